import { describe, expect, it } from 'vitest'
import { retry, waits } from './pictures'
import { bestUnit, type Unit } from './spans'

describe('retries', () => {
  const policy = { maxRetries: 4, backoff: 'FIXED' as const, intervalMs: 1_000, maxIntervalMs: 3_000 }
  it('wait by their back-off, up to the longest wait', () => {
    expect(waits(policy)).toEqual([1_000, 1_000, 1_000, 1_000])
    expect(waits({ ...policy, backoff: 'LINEAR' })).toEqual([1_000, 2_000, 3_000, 3_000])
    expect(waits({ ...policy, backoff: 'EXPONENTIAL' })).toEqual([1_000, 2_000, 3_000, 3_000])
    expect(waits({ ...policy, maxRetries: 1_000 })).toHaveLength(5)
    expect(waits({ ...policy, maxRetries: 0 })).toEqual([])
  })

  it('are drawn within the line of time', () => {
    for (const maxRetries of [0, 1, 5]) {
      const { bars } = retry({ ...policy, maxRetries, backoff: 'EXPONENTIAL', maxIntervalMs: 1e9 })
      expect(bars).toHaveLength(1 + 2 * maxRetries)
      expect(Math.max(...bars.map((b) => b.to))).toBeLessThanOrEqual(100)
    }
  })
})

describe('a span', () => {
  const all: Unit[] = ['ms', 's', 'min', 'h', 'd']
  it.each([[0, 's'], [500, 'ms'], [1_500, 'ms'], [60_000, 'min'], [90_000, 's'], [86_400_000, 'd'], [3_600_000, 'h']] as const)(
    'of %d ms is shown in %s', (ms, unit) => expect(bestUnit(ms, all)).toBe(unit))
})
