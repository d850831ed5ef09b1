import { beforeEach, describe, expect, it } from 'vitest'
import { alertSentence } from './alert'
import { setLanguage } from '.'

const failed = {
  alertType: 'JOB_FAILED', content: 'The job settle failed: HTTP_STATUS, 500.',
  details: { job: 'settle', status: 'DEAD', reason: 'HTTP_STATUS', message: '500 {n} @:x | y' },
}

describe('alertSentence', () => {
  beforeEach(() => setLanguage('zh-CN'))

  it('says it in the language of now, with texts of others as they are', () => {
    expect(alertSentence(failed)).toBe('任务 settle 运行失败：HTTP_STATUS, 500 {n} @:x | y。')
  })
  it('leaves English to the server', async () => {
    await setLanguage('en')
    expect(alertSentence(failed)).toBe(failed.content)
  })
  it('says the sentence that the details fit', () => {
    const notFired = (details: Record<string, string>) => alertSentence({ alertType: 'NOT_FIRED', content: 'c', details })
    expect(notFired({ job: 'a', due: '2026-11-23T00:00:00Z' })).toContain('2026-11-23T00:00:00Z')
    expect(notFired({ jobs: '1000' })).toContain('1000')
    expect(notFired({ job: 'a', fires: '2', reason: 'OVERLAP' })).toContain('OVERLAP')
    expect(notFired({ job: 'a' })).toContain('没有下一次')
  })
  it('keeps the sentence of the server where it has no own one', () => {
    expect(alertSentence({ alertType: 'EXPRESSION', content: 'as it is', details: {} })).toBe('as it is')
    expect(alertSentence({ alertType: 'JOB_FAILED', content: 'old', details: {} })).toBe('old')
    expect(alertSentence({ alertType: 'toString', content: 'odd', details: {} })).toBe('odd')
  })
})
