import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasText, setLanguage } from '@/shared/text'
import { factOf, fill, keyOf, linkOf, sentenceOf } from './why'

const schema = readFileSync('src/shared/api/schema.d.ts', 'utf8')

/** The codes that a schema names, in its field `code` or as a type. */
function codesOf(name: string, field = 'code'): string[] {
  const from = schema.slice(schema.indexOf(`        ${name}:`))
  const line = from.slice(from.indexOf(`${field}: "`)).split('\n')[0] ?? ''
  return [...line.matchAll(/"([A-Z_]+)"/g)].map((m) => m[1] ?? '')
}

const verdicts = codesOf('Explanation', 'verdict')
const codes = codesOf('Explanation')
const facts = codesOf('ExplanationFact')
const reasons = codesOf('Reason', 'Reason')
const waits = codesOf('Wait', 'Wait')
/** The verdicts that have a sentence for any code. */
const open = ['FIRED', 'RUNNING', 'WAITING', 'SKIPPED']
/** Codes of a sentence for the verdict alone, as docs/why-codes.md lists them. */
const listed = [...readFileSync('../docs/why-codes.md', 'utf8').matchAll(/^\| ([A-Z_]+) \| `([A-Z_*]+)` \| (.+) \|$/gm)]

const why = (verdict: string, code: string, params: Record<string, unknown> = {}) =>
  ({ verdict, code, params, explanation: 'as the server says' }) as unknown as Parameters<typeof sentenceOf>[0]
const fact = (code: string, params: Record<string, unknown> = {}, id = '') =>
  ({ code, params, id, text: 'as the server says' }) as unknown as Parameters<typeof factOf>[0]

beforeAll(() => {
  expect([verdicts.length, codes.length > 40, facts.length > 40, reasons.length > 15, waits.length, listed.length > 25]).toEqual([8, true, true, true, 9, true])
})
afterAll(() => setLanguage('en'))

describe.each(['en', 'zh-CN'] as const)('the sentences of %s', (language) => {
  beforeAll(() => setLanguage(language))

  it.each(listed.map((m) => [m[1] ?? '', m[2] ?? '', m[3] ?? '']))('%s %s takes the parameters that the server sends', (verdict, code, sentence) => {
    const names = [...sentence.matchAll(/\{(\w+)\}/g)].map((m) => m[1] ?? '')
    const params = Object.fromEntries(names.map((n) => [n, `<${n}>`]))
    const key = keyOf(verdict, code === '*' ? 'ANOTHER' : code, params)
    expect(key).toBeDefined()
    const text = sentenceOf(why(verdict, code === '*' ? 'ANOTHER' : code, params), 'UTC')
    for (const name of names) expect(text).toContain(`<${name}>`)
    expect(text).not.toContain('–')
  })

  it.each(codes)('the code %s belongs to a verdict that can say it', (code) => {
    const special = verdicts.some((v) => hasText(`jobs.why.${v}.${code}`))
    const word = [`jobs.why.reason.${code}`, `jobs.why.waits.${code}`, `shared.status.${code}`].some(hasText)
    expect(special || word).toBe(true)
  })

  it.each(open)('%s has a sentence for a code that comes later', (verdict) => expect(keyOf(verdict, 'LATER')).toBe(`jobs.why.${verdict}.other`))
  it.each(facts)('the fact %s is written', (code) => expect(hasText(`jobs.why.fact.${code}`)).toBe(true))
  it('names the field of a cron expression that says no', async () => {
    await setLanguage(language)
    const no = fact('CRON_FIELD', { cronField: 'day-of-week', cronValue: 'THURSDAY', cronNames: 'MONDAY-WEDNESDAY, SUNDAY' })
    expect(factOf(no, 'UTC')).toBe(language === 'en' ? 'The day of the week says no: Thursday; it names Monday to Wednesday, Sunday.' : '星期不符合：周四；调度包含 周一至周三, 周日。')
  })

  it('names the steps that an open workflow run waits for', async () => {
    await setLanguage(language)
    const said = [
      fact('STEP_LIVE', { step: 'rest', status: 'WAITING', waitsFor: 'TIME', until: '2026-11-20T13:00:00Z' }), fact('STEP_LIVE', { step: 'load', status: 'RUNNING' }),
      fact('STEP_APPROVAL', { step: 'ask', until: '2026-11-20T14:00:00Z' }), fact('STEPS_WAIT', { count: 1, steps: 'after' }),
      fact('STEPS_WAIT', { count: 22, steps: 'a, b', more: 20 }),
    ].map((f) => factOf(f, 'UTC'))
    expect(said).toEqual(language === 'en' ? [
      'The step rest is Waiting: its time, or that of its next attempt, has not come, until 2026-11-20 13:00:00 UTC.', 'The step load is Running.',
      'The step ask waits for people to approve it, until 2026-11-20 14:00:00 UTC.', '1 step waits until others have ended: after.',
      '22 steps wait until others have ended: a, b, and 20 others.',
    ] : [
      '步骤 rest 的状态为 等待中：尚未到它或其下次尝试的时间，至 2026-11-20 13:00:00 UTC。', '步骤 load 的状态为 运行中。',
      '步骤 ask 正在等待审批，截止 2026-11-20 14:00:00 UTC。', '1 个步骤需等其他步骤结束：after。', '22 个步骤需等其他步骤结束：a, b，以及另外 20 个。',
    ])
  })

  it.each(reasons)('the reason %s is written', (code) => expect(hasText(`jobs.why.reason.${code}`)).toBe(true))
  it.each(waits)('the wait %s is written', (code) => expect(hasText(`jobs.why.waits.${code}`)).toBe(true))
})

describe('a sentence', () => {
  beforeAll(() => setLanguage('en'))

  it('shows times in the zone, durations, and reasons in words', () => {
    expect(sentenceOf(why('FIRED', 'HTTP_STATUS', { time: '2026-11-20T08:00:00Z', latenessMs: 1500, status: 'FAILED', reason: 'HTTP_STATUS' }), 'Asia/Shanghai'))
      .toBe('The fire of 2026-11-20 16:00:00 UTC+8 was run, 1.5 s late, and ended as “Failed”: the target answered with a status that is not expected.')
  })

  it('leaves out what is in brackets where a parameter is missing', () => {
    expect(fill('paused[ by {user}][ ({why})].', { user: 'ann' }, 'UTC')).toBe('paused by ann.')
    expect(fill('paused[ by {user}].', { user: '[x] {why}', why: 'no' }, 'UTC')).toBe('paused by [x] {why}.')
  })

  it('speaks of a range where the answer is of one', () => {
    expect(sentenceOf(why('SKIPPED', 'PAUSED', { fires: 12, time: '2026-11-20T08:00:00Z', rangeEnd: '2026-11-20T09:00:00Z', reason: 'PAUSED' }), 'UTC'))
      .toContain('The 12 fires from 2026-11-20 08:00:00 UTC to before 2026-11-20 09:00:00 UTC')
  })

  it('says one of one, and several of several', () => {
    expect(fill('{times} (time|times), {limit} (fire|fires).', { times: 1, limit: 3 }, 'UTC')).toBe('1 time, 3 fires.')
    expect(fill('so far {skipped} (time|times)', { skipped: '1000 or more' }, 'UTC')).toBe('so far 1000 or more times')
  })

  it('names the field of a cron expression that says no, in each language', () => {
    const no = fact('CRON_FIELD', { cronField: 'day-of-week', cronValue: 'THURSDAY', cronNames: 'MONDAY-WEDNESDAY, SUNDAY' })
    expect(factOf(no, 'UTC')).toBe('The day of the week says no: Thursday; it names Monday to Wednesday, Sunday.')
    expect(factOf(fact('CRON_FIELD', { cronField: 'hour', cronValue: '18', cronNames: '9-17' }), 'UTC')).toBe('The hour says no: 18; it names 9 to 17.')
  })

  it('is that of the server for what is not known here', () => {
    expect(sentenceOf(why('LATER', 'NEW'), 'UTC')).toBe('as the server says')
    expect(factOf(fact('NEW'), 'UTC')).toBe('as the server says')
  })

  it('leads to what it names', () => {
    expect(linkOf(fact('RUN_ENDED', {}, 'e1'))).toBe('/executions/e1')
    expect(linkOf(fact('NODE_SLOTS', {}, 'n1'))).toBe('/nodes/n1')
    expect(linkOf(fact('WORKERS', { workers: 'shop', count: 0 }, 'shop'))).toBe('/workers?group=shop')
    expect(linkOf(fact('NODE_WAS_LOST', {}, 'n1'))).toBe('/nodes/n1')
    expect(linkOf(fact('ALERT', {}, 'a1'))).toBe('/alerts/a1')
    expect(linkOf(fact('JITTER'))).toBeUndefined()
  })
})
