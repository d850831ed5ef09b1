import { createI18n } from 'vue-i18n'
import type { LanguageCode } from '@/shared/text'
import en from '@/shared/text/language.en'
import zh from '@/shared/text/language.zh-CN'

/** A text of the console, by its key: `words('en')('session.signIn')`. A key that does not exist is an error. */
export function words(language: LanguageCode): (key: string, params?: Record<string, unknown>) => string {
  const messages = { en: en.texts, 'zh-CN': zh.texts }
  const { global } = createI18n({ legacy: false, locale: language, messages, missingWarn: false, fallbackWarn: false })
  return (key, params = {}) => {
    if (!global.te(key, language)) throw new Error(`there is no text ${key}`)
    return global.t(key, params)
  }
}
