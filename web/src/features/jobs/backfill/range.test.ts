import { describe, expect, it } from 'vitest'
import { hasTimes, rangeOf, shareOf, timesOf, yesterday } from './range'

describe('the range of a backfill', () => {
  it('is by the clock of the job', () => {
    const chosen = { from: '2026-11-21T00:00', to: '2026-11-22T00:00', parallel: 4, failed: false }
    const range = { from: '2026-11-20T16:00:00.000Z', to: '2026-11-21T16:00:00.000Z', maxParallel: 4 }
    expect(rangeOf(chosen, 'Asia/Shanghai')).toStrictEqual(range)
    expect(rangeOf({ ...chosen, failed: true }, 'Asia/Shanghai')).toStrictEqual({ ...range, includeFailed: true })
    expect(rangeOf({ ...chosen, from: '' }, 'UTC').from).toBe('')
  })
  it('is the last whole day at first, also where it is tomorrow already', () => {
    expect(yesterday(Date.parse('2026-11-22T20:00:00Z'), 'Asia/Shanghai')).toEqual(['2026-11-22T00:00', '2026-11-23T00:00'])
    expect(yesterday(Date.parse('2026-03-01T12:00:00Z'), 'UTC')).toEqual(['2026-02-28T00:00', '2026-03-01T00:00'])
  })
  it.each([['CRON', true], ['FIXED_RATE', true], ['ONCE', true], ['FIXED_DELAY', false], ['NONE', false]] as const)('of %s has times: %s', (kind, has) => {
    expect(hasTimes({ kind })).toBe(has)
  })
})

describe('a backfill', () => {
  const counts = { total: 10, alreadyRun: 2, started: 3 }
  it('tells how far it is', () => {
    expect(shareOf({ ...counts, status: 'ACTIVE' })).toBe(0.5)
    expect(shareOf({ ...counts, status: 'CANCELLED' })).toBe(0.5)
    expect(shareOf({ ...counts, status: 'DONE' })).toBe(1)
    expect(shareOf({ total: 0, alreadyRun: 0, started: 0, status: 'ACTIVE' })).toBe(0)
  })
  it('shows what would run and what is left out, in order', () => {
    const plan = {
      fireTimes: ['2026-01-01T00:00:00Z', '2026-01-01T02:00:00Z'], failedTimes: ['2026-01-01T02:00:00Z'],
      alreadyRunTimes: ['2026-01-01T01:00:00Z'], total: 3,
    }
    expect(timesOf(plan, 10)).toEqual({
      times: [
        { time: '2026-01-01T00:00:00Z', runs: true, failed: false }, { time: '2026-01-01T01:00:00Z', runs: false, failed: false },
        { time: '2026-01-01T02:00:00Z', runs: true, failed: true },
      ],
      more: 0,
    })
    expect(timesOf(plan, 2).more).toBe(1)
  })
})
