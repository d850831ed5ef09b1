import { describe, expect, it } from 'vitest'
import { mount } from '@vue/test-utils'
import { hoursOf, levels, stampedes } from './load'
import LoadMap from './parts/LoadMap.vue'
import type { Line, LoadMinute } from './queries'
import { hoursOfToday } from './usual'

const from = Date.parse('2026-03-01T10:50:00Z')
const plan = (fires: (n: number) => number, length = 1_440): LoadMinute[] =>
  Array.from({ length }, (_, n) => ({ time: new Date(from + n * 60_000).toISOString(), fires: fires(n) }))

describe('the plan of the coming day', () => {
  it('is cut at the hours of the clock', () => {
    const hours = hoursOf(plan((n) => (n === 10 ? 7 : 1)), 50)
    expect(hours).toHaveLength(25)
    expect(hours[0]?.minutes.filter((m) => m !== null)).toHaveLength(10)
    expect(hours[0]?.minutes[49]).toBeNull()
    expect(hours[0]?.fires).toBe(10)
    expect(hours[1]?.time).toBe('2026-03-01T11:00:00.000Z')
    expect(hours[1]?.peak).toEqual({ time: '2026-03-01T11:00:00.000Z', fires: 7 })
    expect(hours[24]?.minutes.filter((m) => m !== null)).toHaveLength(50)
  })

  it('tells minutes apart, and a stampede from all', () => {
    const level = levels(plan((n) => (n === 70 ? 400 : 30)))
    expect([0, 1, 30, 120, 400].map(level)).toEqual([0, 1, 2, 3, 5])
  })

  it('is of a middle tone where all minutes are alike, and light where they start little', () => {
    expect(levels(plan(() => 400))(400)).toBe(2)
    expect(levels(plan(() => 1))(1)).toBe(1)
    expect(levels([])(0)).toBe(0)
  })

  it('finds the minutes that start many jobs at once', () => {
    expect(stampedes(plan((n) => (n === 70 ? 400 : n === 90 ? 300 : 2))).map((m) => m.fires)).toEqual([400, 300])
    expect(stampedes(plan(() => 400))).toEqual([])
    expect(stampedes(plan((n) => (n === 70 ? 10 : 0)))).toEqual([])
  })

  it('shows a row an hour, and warns of a stampede', () => {
    const items = plan((n) => (n === 70 ? 400 : 1))
    const load = { from: items[0]?.time ?? '', items, jobs: 3, complete: true, peak: items[70] ?? { time: '', fires: 0 } }
    const map = mount(LoadMap, { props: { load } })
    expect(map.findAll('tbody tr')).toHaveLength(25)
    expect(map.findAll('tbody rect')).toHaveLength(1_440)
    expect(map.get('[role=note]').text()).toContain('400 starts')
    expect(map.findAll('tbody .level-5')).toHaveLength(1)
  })
})

describe('the hours of today', () => {
  const none = { count: 0, meanMs: null, p50Ms: null, p95Ms: null, p99Ms: null, error: 0 }
  const line = (start: string, runs: number): Line => ({
    start, runs, failed: 0, success: runs, timeout: 0, dead: 0, cancelled: 0, skipped: 0, retries: 0, lateRuns: 0,
    successRate: null, usual: null, duration: none, lateness: none,
  })

  it('stand beside those of yesterday, up to the hour of now', () => {
    const start = Date.parse('2026-03-03T00:00:00Z')
    const hours = hoursOfToday([
      line('2026-03-01T23:00:00Z', 999), line('2026-03-02T01:00:00Z', 30), line('2026-03-02T05:00:00Z', 999),
      line('2026-03-03T00:00:00Z', 8),
    ], start, start + 90 * 60_000)
    expect(hours).toEqual([
      { start: '2026-03-03T00:00:00.000Z', runs: 8, yesterday: 0 },
      { start: '2026-03-03T01:00:00.000Z', runs: 0, yesterday: 30 },
    ])
  })
})
