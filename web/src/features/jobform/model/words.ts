// A cron expression in plain words. The library is loaded where a cron is shown.
import type { LanguageCode } from '@/shared/text'
import type { Dialect } from './cron'

/** The expression in words; empty for what the library does not know. The server judges. */
export async function wordsOf(expression: string, dialect: Dialect, language: LanguageCode): Promise<string> {
  const text = expression.trim()
  if (text === '' || text.startsWith('@every')) return ''
  const { default: cronstrue } = await import('cronstrue')
  if (language === 'zh-CN') await import('cronstrue/locales/zh_CN')
  try {
    return cronstrue.toString(text, {
      // SUNDAY is 0 in UNIX and 1 in QUARTZ.
      dayOfWeekStartIndexZero: dialect === 'UNIX', use24HourTimeFormat: true, verbose: false, throwExceptionOnParseError: true,
      locale: language === 'zh-CN' ? 'zh_CN' : 'en',
    })
  } catch {
    return ''
  }
}
