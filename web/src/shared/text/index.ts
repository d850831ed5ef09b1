import dayjs from 'dayjs'
import { shallowRef } from 'vue'
import { createI18n } from 'vue-i18n'
import { stored } from '@/shared/stored'
import type { Language } from './language'

export type { Texts } from './language'

/** The languages of the console, by their own names. */
export const languages = { en: 'English', 'zh-CN': '简体中文' } as const
export type LanguageCode = keyof typeof languages

const loaders: Record<LanguageCode, () => Promise<{ default: Language }>> = {
  en: () => import('./language.en'),
  'zh-CN': () => import('./language.zh-CN'),
}

export const i18n = createI18n({
  legacy: false,
  locale: 'en',
  fallbackLocale: 'en',
  messages: {},
  missingWarn: false,
  fallbackWarn: false,
})

/** The texts of Element Plus in the language of now. */
export const elementLocale = shallowRef<Language['element']>()
const kept = stored<LanguageCode | ''>('language', '')

/** The language that somebody chose, or else the first of the browser's that there is. */
export function preferredLanguage(): LanguageCode {
  if (kept.value !== '' && kept.value in languages) return kept.value
  for (const wanted of navigator.languages) {
    if (wanted.toLowerCase().startsWith('zh')) return 'zh-CN'
    if (wanted.toLowerCase().startsWith('en')) return 'en'
  }
  return 'en'
}

/** Loads a language and speaks it; `keep` where somebody chose it. */
export async function setLanguage(code: LanguageCode, keep = false): Promise<void> {
  const { default: language } = await loaders[code]()
  i18n.global.setLocaleMessage(code, language.texts)
  i18n.global.locale.value = code
  elementLocale.value = language.element
  dayjs.locale(language.dayjs)
  document.documentElement.lang = code
  if (keep) kept.value = code
}

/** The language of now. It is reactive where it is read. */
export function languageNow(): LanguageCode {
  return i18n.global.locale.value as LanguageCode
}

/**
 * The text of a key, `feature.key`, reactive where it is read: `t(key, { n }, n)`
 * takes one of the plural forms. A key that does not exist fails text.test.ts.
 */
export function t(key: string, params: Record<string, unknown> = {}, plural?: number): string {
  return plural === undefined ? i18n.global.t(key, params) : i18n.global.t(key, params, plural)
}

/** Whether there is a text, for keys that are made of what the server sends. */
export function hasText(key: string): boolean {
  return i18n.global.te(key, languageNow())
}
