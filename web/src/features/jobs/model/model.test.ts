import { describe, expect, it } from 'vitest'
import type { Model } from '@/shared/api/types'
import { defaults, parsed, typed } from '@/shared/params'
import { momentOf, wallOf } from '@/shared/time/wall'

const declare = (name: string, type: Model<'ParameterType'>, value: unknown = null): Model<'JobParameter'> =>
  ({ name, type, default: value, description: '', required: false, values: [] })

describe('the parameters of a run', () => {
  const declared = [declare('n', 'INTEGER', 3), declare('b', 'BOOLEAN', false), declare('s', 'STRING'), declare('d', 'DATE')]

  it('begin with what the job declares', () => expect(defaults(declared, 'UTC')).toEqual({ n: '3', b: 'false', s: '', d: '' }))
  it('are sent by their types, without empty ones', () => {
    expect(typed(declared, { n: '7', b: 'true', s: '12', d: '' }, 'UTC')).toEqual({ n: 7, b: true, s: '12' })
  })
  it('are left to the server where they are wrong', () => expect(typed(declared, { n: 'x', b: 'maybe' }, 'UTC')).toEqual({ n: 'x', b: 'maybe' }))
  it('that are moments are written by the clock of the job', () => {
    const moments = [declare('at', 'DATETIME', '2026-11-20T00:00:05Z'), declare('to', 'DATETIME', 'no moment')]
    expect(defaults(moments, 'Asia/Shanghai')).toEqual({ at: '2026-11-20T08:00:05', to: 'no moment' })
    expect(typed(moments, { at: '2026-11-20T09:00', to: 'no moment' }, 'Asia/Shanghai')).toEqual({ at: '2026-11-20T01:00:00.000Z', to: 'no moment' })
  })
  it.each([['', {}], ['{"a":1}', { a: 1 }], ['[1]', undefined], ['{', undefined], ['null', undefined]])('%s is read as %o', (text, value) => {
    expect(parsed(text)).toEqual(value)
  })
})

describe('a wall time', () => {
  it.each([
    ['2026-11-22T08:00', 'Asia/Shanghai', '2026-11-22T00:00:00.000Z'], ['2026-07-01T12:00:05', 'Europe/Berlin', '2026-07-01T10:00:05.000Z'],
    ['2026-03-29T03:30', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'], ['nonsense', 'UTC', ''],
  ])('%s in %s is %s', (wall, zone, moment) => expect(momentOf(wall, zone)).toBe(moment))
  it('comes back', () => expect(wallOf('2026-11-22T00:00:00Z', 'Asia/Shanghai')).toBe('2026-11-22T08:00:00'))
})
