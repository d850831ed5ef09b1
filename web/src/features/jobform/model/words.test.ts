import { describe, expect, it } from 'vitest'
import { wordsOf } from './words'

describe('a cron expression in words', () => {
  it.each([
    ['0 0 9 ? * 2-6', 'QUARTZ', 'en', 'At 09:00, Monday through Friday'],
    ['0 9 * * 1-5', 'UNIX', 'en', 'At 09:00, Monday through Friday'],
    ['0 0/5 * * * ?', 'QUARTZ', 'en', 'Every 5 minutes'],
    ['0 0 9 ? * 2-6', 'QUARTZ', 'zh-CN', '在09:00, 星期一至星期五'],
    ['nonsense', 'QUARTZ', 'en', ''],
    ['', 'UNIX', 'en', ''],
  ] as const)('%s of %s in %s', async (text, dialect, language, words) => {
    expect(await wordsOf(text, dialect, language)).toBe(words)
  })
})
