import { beforeAll, describe, expect, it } from 'vitest'
import type { Model } from '@/shared/api/types'
import { setLanguage } from '@/shared/text'
import { durations, latenesses, outcomes, slotsOf, usualOf, type Words } from './series'

type Statistics = Model<'Statistics'>
const quantiles = (p50Ms: number | null) => ({ count: 1, error: 0, meanMs: p50Ms, p50Ms, p95Ms: p50Ms === null ? null : p50Ms * 2, p99Ms: p50Ms === null ? null : p50Ms * 3 })
const usual = (usualMs: number) => ({ usualMs, lowMs: usualMs - 10, highMs: usualMs + 10, limitMs: usualMs + 1_000, cell: '', runs: 30 })
const line = (start: string, more: Partial<Statistics['items'][number]> = {}): Statistics['items'][number] => ({
  start, runs: 3, success: 2, failed: 1, timeout: 0, dead: 0, cancelled: 0, skipped: 0, retries: 0, lateRuns: 1, successRate: 0.6,
  duration: quantiles(500), lateness: quantiles(20), usual: null, ...more,
})
const words: Words = {
  time: 'Time', p50: 'Median', p95: 'P95', p99: 'P99', usual: 'Usual', range: 'Range', late: 'Late',
  outcomes: { success: 'Succeeded', failed: 'Failed', timeout: 'Timed out', cancelled: 'Cancelled', dead: 'Dead', skipped: 'Skipped' },
}
interface Series { name: string; data: (number | null)[]; tone?: string }
const seriesOf = ({ option }: { option: unknown }) => (option as { series: Series[] }).series

beforeAll(() => setLanguage('en'))

describe('the slots of a chart', () => {
  it('are all hours, by the clock of the zone, also those without a run', () => {
    const slots = slotsOf({ items: [line('2026-11-20T01:00:00Z')], from: '2026-11-20T00:00:00Z', to: '2026-11-20T03:00:00Z' }, 'HOUR', 'Asia/Shanghai')
    expect(slots.map((s) => [s.label, s.line?.runs])).toEqual([['11-20 08:00', undefined], ['11-20 09:00', 3], ['11-20 10:00', undefined]])
  })

  it('begin with the first run, but are not too few', () => {
    const of = (first: string) => slotsOf({ items: [line(first)], from: '2026-11-18T00:00:00Z', to: '2026-11-20T12:00:00Z' }, 'HOUR', 'UTC')
    expect(of('2026-11-18T05:00:00Z')).toHaveLength(55)
    expect(of('2026-11-20T11:00:00Z')).toHaveLength(24)
  })

  it('are all days of the zone, also when the clocks change', () => {
    const from = '2026-10-23T22:00:00Z' // midnight of the 24th in Berlin
    const slots = slotsOf({ items: [line('2026-10-24T22:00:00Z')], from, to: '2026-10-27T12:00:00Z' }, 'DAY', 'Europe/Berlin')
    expect(slots.map((s) => [s.start, s.label, s.line?.runs])).toEqual([
      ['2026-10-23T22:00:00.000Z', '10-24', undefined], ['2026-10-24T22:00:00.000Z', '10-25', 3],
      ['2026-10-25T23:00:00.000Z', '10-26', undefined], ['2026-10-26T23:00:00.000Z', '10-27', undefined],
    ])
  })
})

describe('the chart of durations', () => {
  const slots = slotsOf({
    items: [line('2026-11-20T00:00:00Z', { usual: usual(480) }), line('2026-11-20T01:00:00Z')], from: '2026-11-20T00:00:00Z', to: '2026-11-20T02:00:00Z',
  }, 'HOUR', 'UTC')

  it('shows the band of what is usual in each hour', () => {
    const chart = durations(slots, usual(999), 'HOUR', words)
    expect(seriesOf(chart).map((s) => [s.name, s.data])).toEqual([
      ['Median', [500, 500]], ['P95', [1_000, 1_000]], ['Usual', [480, null]], ['low', [470, null]], ['Range', [20, null]],
    ])
    expect(chart.table.rows).toEqual([['11-20 00:00', '500 ms', '1 s', '480 ms', '470 ms – 490 ms'], ['11-20 01:00', '500 ms', '1 s', '–', '–']])
  })

  it('shows that of now for days, and none while nobody knows', () => {
    expect(usualOf(slots, usual(999), 'DAY').map((u) => u?.usualMs)).toEqual([999, 999])
    expect(seriesOf(durations(slots, null, 'DAY', words)).map((s) => s.name)).toEqual(['Median', 'P95'])
  })
})

describe('the other charts', () => {
  const items = [line('2026-11-20T00:00:00Z'), line('2026-11-20T01:00:00Z', { timeout: 2, lateness: quantiles(400) })]
  const slots = slotsOf({ items, from: '2026-11-20T00:00:00Z', to: '2026-11-20T02:00:00Z' }, 'HOUR', 'UTC')

  it('draw the line of what is late only where it is near', () => {
    const marked = (of: typeof slots) => JSON.stringify(latenesses(of, words).option).includes('markLine')
    expect(marked(slots)).toBe(true)
    expect(marked(slots.slice(0, 1))).toBe(false)
    expect(latenesses(slots, words).table.rows[1]).toEqual(['11-20 01:00', '400 ms', '800 ms', '1.2 s', '1'])
  })

  it('show the outcomes that there were, in the colours of the states', () => {
    expect(seriesOf(outcomes(slots, words)).map((s) => [s.name, s.tone, s.data])).toEqual([
      ['Succeeded', 'good', [2, 2]], ['Failed', 'bad', [1, 1]], ['Timed out', 'warn', [0, 2]],
    ])
  })
})
