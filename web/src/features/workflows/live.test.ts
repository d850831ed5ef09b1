import { flushPromises } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { json, mountAt, serve, signInAs } from '@/test/mount'
import RunPage from './pages/RunPage.vue'
import type { WorkflowRunDetail, WorkflowStep } from './queries'

/** What pages follow of the live feed. */
const followed = vi.hoisted(() => [] as { topics: unknown; keys: unknown }[])
vi.mock('@/shared/live', async (actual) => ({
  ...(await actual<object>()),
  useLive: (topics: unknown, keys: unknown) => {
    const of = (given: unknown): unknown => (typeof given === 'function' ? given() : given)
    followed.push({ topics: of(topics), keys: of(keys) })
  },
}))

const at = '2026-11-28T02:00:00Z'
const tellOf = (state: WorkflowStep['state']): WorkflowStep => ({
  step: 'tell', kind: 'http', state, reason: '', held: false, heldUntil: null, executionId: 'e-tell', startTime: at, endTime: null, generation: 1, items: null,
})
const run: WorkflowRunDetail = {
  id: 'r1', workflowId: 'w1', workflow: 'release', group: 'shop', version: 3, phase: 'OPEN', status: 'RUNNING', reason: '', errorMessage: '', problem: '',
  trigger: 'SCHEDULE', scheduledTime: at, startTime: at, endTime: null, wakeTime: null, retryOf: null, params: null,
  counts: { total: 1, success: 0, failed: 0, skipped: 0, live: 1, waiting: 0, held: 0 }, steps: [tellOf('RUNNING')],
}
const show = () => mountAt(RunPage, '/workflow-runs/r1', { props: { id: 'r1' } })

describe('the page of a workflow run', () => {
  it('follows its run, and all that is on screen of it', async () => {
    serve({ 'GET /api/v1/workflow-runs/r1': () => json(run) })
    await signInAs(['job:read', 'execution:read'])
    followed.length = 0
    await show()
    expect(followed).toEqual([{ topics: ['workflow-run:r1', 'execution:r1'], keys: [['workflows', 'run', 'r1']] }])
  })

  it('is asked for besides until it is closed: soon while a step waits, as no topic tells of its start', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    try {
      let closed = false, waits = true
      const calls = serve({
        'GET /api/v1/workflow-runs/r1': () => json({ ...run, steps: [tellOf(waits ? 'WAITING' : 'RUNNING')], phase: closed ? 'CLOSED' : 'OPEN', status: closed ? 'FAILED' : 'RUNNING' }),
      })
      await signInAs(['job:read', 'execution:read'])
      const reads = () => calls.filter((c) => c.url.endsWith('/workflow-runs/r1')).length
      const { wrapper } = await show()
      await vi.waitFor(() => expect(wrapper.text()).toContain('Running'))
      const before = reads()
      await vi.advanceTimersByTimeAsync(4_000)
      expect(reads()).toBe(before)
      waits = false
      await vi.advanceTimersByTimeAsync(1_100)
      expect(reads()).toBe(before + 1)
      await vi.advanceTimersByTimeAsync(20_000)
      expect(reads()).toBe(before + 1)
      closed = true
      await vi.advanceTimersByTimeAsync(11_000)
      await flushPromises()
      expect(wrapper.text()).toContain('Closed')
      const after = reads()
      await vi.advanceTimersByTimeAsync(40_000)
      expect(reads()).toBe(after)
    } finally {
      vi.useRealTimers()
    }
  })
})
