import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import en from './language.en'
import zh from './language.zh-CN'
import { bytes, duration, number } from './format'
import { i18n, setLanguage, t } from '.'

interface Tree {
  [key: string]: string | Tree
}

/** All texts by their whole keys. */
function flat(tree: Tree, before = ''): Map<string, string> {
  const out = new Map<string, string>()
  for (const [key, value] of Object.entries(tree)) {
    if (typeof value === 'string') out.set(before + key, value)
    else for (const [k, v] of flat(value, `${before}${key}.`)) out.set(k, v)
  }
  return out
}

const english = flat(en.texts)
const chinese = flat(zh.texts)
const placeholders = (text: string) => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]))].sort()

/** The source of the console without its tests. */
function sources(): [string, string][] {
  const names = readdirSync('src', { recursive: true, encoding: 'utf8' })
  return names
    .filter((n) => /\.(vue|ts)$/.test(n) && !/\.test\.ts$|schema\.d\.ts$/.test(n))
    .map((n) => [n, readFileSync(`src/${n}`, 'utf8')])
}

describe('the texts', () => {
  it('have the same keys in both languages', () => {
    expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort())
  })

  it.each([...english.keys()])('%s is written, with the same placeholders', (key) => {
    expect(chinese.get(key)?.trim()).toBeTruthy()
    expect(placeholders(chinese.get(key) ?? '')).toEqual(placeholders(english.get(key) ?? ''))
  })

  it('can be read in both languages', async () => {
    for (const [code, texts] of [['en', english], ['zh-CN', chinese]] as const) {
      await setLanguage(code)
      for (const key of texts.keys()) expect(i18n.global.t(key, { n: 2 }, 2), key).toBeTruthy()
    }
  })

  it('exist for each key that the source names', () => {
    const named = /(?:\bt\(\s*|(?:title|label|text|key): )'([a-z][\w-]*\.[\w.-]*\w)'/g
    for (const [file, source] of sources()) {
      for (const [, key = ''] of source.matchAll(named)) {
        if (!english.has(key)) expect.soft(`${file}: ${key}`).toBe('a key of texts/en.ts')
      }
    }
  })

  it('take plural forms', async () => {
    expect(t('shared.table.selected', { n: 1 }, 1)).toBe('one selected')
    expect(t('shared.table.selected', { n: 3 }, 3)).toBe('3 selected')
    await setLanguage('zh-CN')
    expect(t('shared.table.selected', { n: 1 }, 1)).toBe('已选 1 项')
    expect(document.documentElement.lang).toBe('zh-CN')
  })
})

describe('formats', () => {
  it.each([
    [0, '0 ms'], [999, '999 ms'], [1_500, '1.5 s'], [59_999, '60 s'], [61_000, '1 min 1 s'], [3_600_000, '1 h'],
    [90_061_000, '1 d 1 h'], [-1_500, '−1.5 s'],
  ])('%d ms is %s', (ms, text) => expect(duration(ms)).toBe(text))

  it('shows a dash for what is not there', () => {
    expect([duration(null), number(undefined), bytes(null)]).toEqual(['–', '–', '–'])
  })

  it('counts bytes in units of 1024', () => {
    expect([bytes(12), bytes(1536), bytes(10 * 1024 ** 3)]).toEqual(['12 B', '1.5 KiB', '10 GiB'])
  })
})
