import { beforeAll, describe, expect, it } from 'vitest'
import { setLanguage } from '@/shared/text'
import { hasHours, isDay, midnight, spanOf, startsOf } from './model/range'
import { draw, slotsOf } from './model/series'
import type { Line } from './queries'

const now = Date.parse('2026-10-26T10:00:00Z')
const days = { from: '', to: '' }
const iso = (moment: number) => new Date(moment).toISOString()

describe('a range', () => {
  it('of hours ends with the hour of now, one of days begins at midnight of the zone', () => {
    expect(spanOf('24h', days, now, 'Asia/Shanghai')).toEqual({ from: '2026-10-25T11:00:00.000Z' })
    expect(spanOf('7d', days, now, 'Asia/Shanghai')).toEqual({ from: '2026-10-19T16:00:00.000Z' })
    // The clocks of Berlin changed on the 25th.
    expect(spanOf('7d', days, now, 'Europe/Berlin')).toEqual({ from: '2026-10-19T22:00:00.000Z' })
    expect(spanOf('no such range', days, now, 'UTC')).toEqual(spanOf('24h', days, now, 'UTC'))
  })

  it('of days holds the last one whole, and says nothing while a day is missing or wrong', () => {
    expect(spanOf('days', { from: '2026-10-25', to: '2026-10-25' }, now, 'Europe/Berlin'))
      .toEqual({ from: '2026-10-24T22:00:00.000Z', to: '2026-10-25T23:00:00.000Z' })
    for (const wrong of [days, { from: '2026-10-25', to: '2026-10-24' }, { from: '2026-02-30', to: '2026-10-24' }]) {
      expect(spanOf('days', wrong, now, 'UTC')).toBeUndefined()
    }
    expect(isDay('2026-1-1')).toBe(false)
  })

  it('has hours for three days', () => {
    const of = (range: string) => hasHours(spanOf(range, days, now, 'UTC') ?? { from: '' }, now)
    expect(['24h', '3d', '7d', '30d'].map(of)).toEqual([true, true, false, false])
  })

  it('has all its days, also those of 23 and 25 hours', () => {
    expect(startsOf('2026-10-23T22:00:00Z', '2026-10-26T10:00:00Z', 'DAY', 'Europe/Berlin').map(iso)).toEqual([
      '2026-10-23T22:00:00.000Z', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z',
    ])
    expect(startsOf('2026-10-25T00:00:00Z', '2026-10-25T03:00:00Z', 'HOUR', 'UTC')).toHaveLength(3)
    expect(iso(midnight('2026-03-29', 'Europe/Berlin'))).toBe('2026-03-28T23:00:00.000Z')
  })

  it('has no day that there was not', () => {
    expect(startsOf('2011-12-29T10:00:00Z', '2012-01-01T10:00:00Z', 'DAY', 'Pacific/Apia').map(iso)).toEqual([
      '2011-12-29T10:00:00.000Z', '2011-12-30T10:00:00.000Z', '2011-12-31T10:00:00.000Z',
    ])
  })

  // By the tz database: the clocks of these zones leave midnight out, or show it twice.
  it.each([
    ['2026-03-08', 'America/Havana', '2026-03-08T05:00:00.000Z'], ['2026-11-01', 'America/Havana', '2026-11-01T04:00:00.000Z'],
    ['2026-09-06', 'America/Santiago', '2026-09-06T04:00:00.000Z'], ['2026-03-29', 'Atlantic/Azores', '2026-03-29T01:00:00.000Z'],
    ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'], ['2017-10-15', 'America/Sao_Paulo', '2017-10-15T03:00:00.000Z'],
    ['2023-10-01', 'America/Asuncion', '2023-10-01T04:00:00.000Z'], ['2011-12-31', 'Pacific/Apia', '2011-12-30T10:00:00.000Z'],
  ])('has %s in %s from its first moment on', (day, zone, first) => expect(iso(midnight(day, zone))).toBe(first))
})

describe('the charts', () => {
  beforeAll(() => setLanguage('en'))
  const quantiles = (p50Ms: number) => ({ count: 1, error: 0.04, meanMs: p50Ms, p50Ms, p95Ms: p50Ms * 2, p99Ms: p50Ms * 3 })
  const line = (start: string): Line => ({
    start, runs: 5, success: 4, failed: 1, timeout: 0, dead: 0, cancelled: 0, skipped: 0, retries: 0, lateRuns: 2, successRate: 0.8,
    duration: quantiles(1_500), lateness: quantiles(20), usual: null,
  })
  const slots = slotsOf({
    items: [line('2026-10-25T01:00:00Z')], from: '2026-10-25T00:00:00Z', to: '2026-10-25T03:00:00Z',
  }, 'HOUR', 'Asia/Shanghai')

  it('show hours in which nothing ended, too, and a table beside', () => {
    expect(slots.map((s) => [s.label, s.line?.runs])).toEqual([['10-25 08:00', undefined], ['10-25 09:00', 5], ['10-25 10:00', undefined]])
    const [runs, rate, duration, lateness] = draw(slots, 'Time (Asia/Shanghai)')
    expect(runs?.table.heads).toEqual(['Time (Asia/Shanghai)', 'Succeeded', 'Failed'])
    expect(runs?.table.rows[1]).toEqual(['10-25 09:00', '4', '1'])
    expect(rate?.table.rows.map((r) => r[1])).toEqual(['–', '80%', '–'])
    expect(duration?.table.rows[1]).toEqual(['10-25 09:00', '1.5 s', '3 s', '4.5 s'])
    expect(lateness?.table.rows[1]).toEqual(['10-25 09:00', '20 ms', '40 ms', '60 ms', '2'])
  })

  it('find a stored day that begins at another hour', () => {
    const found = slotsOf({ items: [line('2026-10-20T00:00:00Z')], from: '2026-10-19T16:00:00Z', to: '2026-10-22T16:00:00Z' }, 'DAY', 'Asia/Shanghai')
    expect(found.map((s) => [s.label, s.line?.runs])).toEqual([['2026-10-20', 5], ['2026-10-21', undefined], ['2026-10-22', undefined]])
  })
})
