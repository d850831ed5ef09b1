import { describe, expect, it, vi } from 'vitest'
import { json, mountAt, serve, signInAs } from '@/test/mount'
import StandbyBar from './StandbyBar.vue'

describe('the bar of a server that stands by', () => {
  it('says so, and why', async () => {
    await signInAs(['job:read'])
    serve({
      'GET /readyz': () => json({
        status: 'ready', degraded: [{ part: 'standby', reason: 'the store stands by: a drill', since: '2026-11-22T00:00:00Z' }],
      }),
    })
    const { wrapper } = await mountAt(StandbyBar)
    await vi.waitFor(() => expect(wrapper.text()).toContain('the store stands by: a drill'))
    expect(wrapper.text()).toContain('it fires and runs nothing')
  })

  it('is not there while the server works', async () => {
    await signInAs(['job:read'])
    const calls = serve({
      'GET /readyz': () => json({ status: 'ready', degraded: [{ part: 'redis', reason: 'away', since: '2026-11-22T00:00:00Z' }] }),
    })
    const { wrapper } = await mountAt(StandbyBar)
    await vi.waitFor(() => expect(calls.length).toBeGreaterThan(0))
    expect(wrapper.text()).toBe('')
  })
})
