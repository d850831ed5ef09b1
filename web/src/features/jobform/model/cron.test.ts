import { describe, expect, it } from 'vitest'
import { joinCron, readChoice, setField, splitCron, translate, writeChoice, type Choice, type Dialect, type FieldName } from './cron'

describe('a field', () => {
  it.each<[string, FieldName, Dialect, Choice]>([
    ['*', 'hour', 'QUARTZ', { mode: 'every' }],
    ['?', 'day', 'QUARTZ', { mode: 'none' }],
    ['0/5', 'minute', 'QUARTZ', { mode: 'step', from: 0, step: 5 }],
    ['*/5', 'minute', 'UNIX', { mode: 'step', from: 0, step: 5 }],
    ['9-17', 'hour', 'UNIX', { mode: 'range', from: 9, to: 17 }],
    ['22-2', 'hour', 'QUARTZ', { mode: 'range', from: 22, to: 2 }],
    ['1,4,7,10', 'month', 'QUARTZ', { mode: 'list', values: [1, 4, 7, 10] }],
    ['JAN,JUL', 'month', 'UNIX', { mode: 'list', values: [1, 7] }],
    ['2-6', 'week', 'QUARTZ', { mode: 'range', from: 1, to: 5 }],
    ['1-5', 'week', 'UNIX', { mode: 'range', from: 1, to: 5 }],
    ['MON-FRI', 'week', 'QUARTZ', { mode: 'range', from: 1, to: 5 }],
    ['7', 'week', 'UNIX', { mode: 'list', values: [0] }],
    ['7', 'week', 'QUARTZ', { mode: 'list', values: [6] }],
    ['L', 'day', 'QUARTZ', { mode: 'last', before: 0 }],
    ['L-3', 'day', 'QUARTZ', { mode: 'last', before: 3 }],
    ['LW', 'day', 'QUARTZ', { mode: 'lastWorkday' }],
    ['15W', 'day', 'QUARTZ', { mode: 'workday', day: 15 }],
    ['6L', 'week', 'QUARTZ', { mode: 'lastWeek', day: 5 }],
    ['FRIL', 'week', 'QUARTZ', { mode: 'lastWeek', day: 5 }],
    ['6#3', 'week', 'QUARTZ', { mode: 'nthWeek', day: 5, nth: 3 }],
  ])('%s of %s in %s', (text, field, dialect, choice) => {
    expect(readChoice(text, field, dialect)).toEqual(choice)
  })

  it.each<[string, FieldName, Dialect]>([
    ['0 0', 'hour', 'QUARTZ'], ['60', 'minute', 'QUARTZ'], ['1-5,9', 'hour', 'QUARTZ'], ['L', 'day', 'UNIX'],
    ['0', 'week', 'QUARTZ'], ['6#9', 'week', 'QUARTZ'], ['5-59/10', 'minute', 'QUARTZ'], ['0/0', 'minute', 'QUARTZ'],
    ['banana', 'hour', 'UNIX'], ['L-3W', 'day', 'QUARTZ'],
  ])('%s of %s in %s stays a text', (text, field, dialect) => {
    expect(readChoice(text, field, dialect)).toEqual({ mode: 'text', text })
  })

  it('is written as it is read', () => {
    const samples: [string, FieldName, Dialect][] = [
      ['0/5', 'minute', 'QUARTZ'], ['*/5', 'minute', 'UNIX'], ['2-6', 'week', 'QUARTZ'], ['1-5', 'week', 'UNIX'],
      ['L-3', 'day', 'QUARTZ'], ['15W', 'day', 'QUARTZ'], ['6L', 'week', 'QUARTZ'], ['6#3', 'week', 'QUARTZ'], ['1,15', 'day', 'UNIX'],
    ]
    for (const [text, field, dialect] of samples) expect(writeChoice(readChoice(text, field, dialect), field, dialect)).toBe(text)
    expect(writeChoice({ mode: 'step', from: 3, step: 10 }, 'minute', 'UNIX')).toBe('3-59/10')
  })
})

describe('an expression', () => {
  it('is split and joined', () => {
    expect(splitCron('0 0/5 * * * ?', 'QUARTZ')).toMatchObject({ second: '0', minute: '0/5', week: '?', year: '' })
    expect(splitCron('0 0 12 1 * ? 2027', 'QUARTZ')?.year).toBe('2027')
    expect(splitCron('*/5 * * * *', 'UNIX')).toMatchObject({ minute: '*/5' })
    for (const [text, dialect] of [['0 0 12 1 * ? 2027', 'QUARTZ'], ['0 0 9 ? * 2-6', 'QUARTZ'], ['0 9 * * 1-5', 'UNIX']] as const) {
      const fields = splitCron(text, dialect)
      expect(fields && joinCron(fields, dialect)).toBe(text)
    }
  })

  it.each([['@daily', 'QUARTZ'], ['0 0 * * *', 'QUARTZ'], ['0 0 0 * * ?', 'UNIX'], ['', 'UNIX'], ['@every 10s', 'UNIX']] as const)(
    '%s has no fields in %s', (text, dialect) => expect(splitCron(text, dialect)).toBeUndefined())

  it('keeps exactly one "?" in QUARTZ, whichever day is chosen', () => {
    let fields = splitCron('0 0 9 * * ?', 'QUARTZ')
    if (!fields) throw new Error('no fields')
    fields = setField(fields, 'week', { mode: 'range', from: 1, to: 5 }, 'QUARTZ')
    expect(joinCron(fields, 'QUARTZ')).toBe('0 0 9 ? * 2-6')
    fields = setField(fields, 'day', { mode: 'last', before: 0 }, 'QUARTZ')
    expect(joinCron(fields, 'QUARTZ')).toBe('0 0 9 L * ?')
    fields = setField(fields, 'week', { mode: 'list', values: [1] }, 'QUARTZ')
    expect(joinCron(fields, 'QUARTZ')).toBe('0 0 9 ? * 2')
    fields = setField(fields, 'week', { mode: 'every' }, 'QUARTZ')
    expect(joinCron(fields, 'QUARTZ')).toBe('0 0 9 * * ?')
    expect(joinCron({ ...fields, day: '?', week: '*' }, 'QUARTZ')).toBe('0 0 9 * * ?')
  })

  it.each([
    ['0 0 9 ? * 2-6', 'QUARTZ', '0 9 * * 1-5'],
    ['0 0/5 * * * ?', 'QUARTZ', '*/5 * * * *'],
    ['0 9 * * 1-5', 'UNIX', '0 0 9 ? * 2-6'],
    ['0 0 1 * *', 'UNIX', '0 0 0 1 * ?'],
    ['0 9 * * 0', 'UNIX', '0 0 9 ? * 1'],
    ['@daily', 'UNIX', '@daily'],
    ['30 0 9 * * ?', 'QUARTZ', undefined],
    ['0 0 9 L * ?', 'QUARTZ', undefined],
    ['0 0 9 ? * 6#3', 'QUARTZ', undefined],
    ['0 0 22-2 * * ?', 'QUARTZ', undefined],
    ['0 0 9 1 * ? 2027', 'QUARTZ', undefined],
    ['0 0 1 * 1', 'UNIX', undefined],
  ] as const)('%s of %s becomes %s in the other dialect', (text, from, there) => {
    expect(translate(text, from, from === 'UNIX' ? 'QUARTZ' : 'UNIX')).toBe(there)
  })
})
