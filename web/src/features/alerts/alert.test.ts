import { describe, expect, it } from 'vitest'
import { allows, labelFilter, messagesOf, noFilters, queryOf, safeLink, whyLink } from './alert'

describe('queryOf', () => {
  it('asks for what is open by default, and leaves empty filters out', () => {
    expect(queryOf(noFilters, '')).toEqual({ status: 'FIRING,ACKNOWLEDGED,PENDING', limit: 50 })
  })
  it('takes filters and the place, and no state for all', () => {
    expect(queryOf({ ...noFilters, state: 'all', level: 'CRITICAL', group: ' billing ', labels: 'team=a' }, 'c1'))
      .toEqual({ level: 'CRITICAL', group: 'billing', labels: 'team=a', cursor: 'c1', limit: 50 })
  })
  it('does not send what an address invents', () => {
    expect(queryOf({ ...noFilters, state: 'toString', level: 'LOUD' }, '')).toEqual({ status: 'FIRING,ACKNOWLEDGED,PENDING', limit: 50 })
  })
})

it('allows what makes sense for the state', () => {
  expect(allows({ status: 'FIRING' }, 'ack')).toBe(true)
  expect(allows({ status: 'ACKNOWLEDGED' }, 'ack')).toBe(false)
  expect(allows({ status: 'ACKNOWLEDGED' }, 'resolve')).toBe(true)
  expect(allows({ status: 'RESOLVED' }, 'resolve')).toBe(false)
})

it('escapes the values of labels', () => {
  expect(labelFilter('city', 'Paris, Texas')).toBe('city=Paris\\, Texas')
  expect(labelFilter('path', 'a\\b')).toBe('path=a\\\\b')
})

it('leads to why only where there is a job', () => {
  expect(whyLink({ jobId: null, startTime: 'x', pendingSince: null })).toBeUndefined()
  expect(whyLink({ jobId: 'j', startTime: '2026-11-22T10:00:00Z', pendingSince: null })).toBe('/jobs/j?at=2026-11-22T10%3A00%3A00Z')
})

it('makes links of addresses of the web alone', () => {
  expect(safeLink('https://wiki/x')).toBe('https://wiki/x')
  expect(safeLink('javascript:alert(1)')).toBeUndefined()
})

it('orders the attempts of each message', () => {
  const d = (messageId: string, attempt: number) => ({ messageId, attempt, channelId: 'c', channelName: 'c' })
  expect(messagesOf([d('b', 2), d('b', 1), d('a', 0)])).toEqual([
    { id: 'b', latest: d('b', 2), attempts: [d('b', 1), d('b', 2)] },
    { id: 'a', latest: d('a', 0), attempts: [] },
  ])
})
