import { QueryClient } from '@tanstack/vue-query'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import NavRail from '@/app/layout/NavRail.vue'
import { endFeed, live, startFeed } from '@/shared/live'
import { setLanguage } from '@/shared/text'
import { json, mountAt, serve, signInAs } from '@/test/mount'

// It loads late, behind the word.
beforeAll(() => import('./parts/ApprovalCount.vue'))
afterEach(() => {
  endFeed()
  vi.unstubAllGlobals()
})

/** The approvals that a server has: whether the user may vote on each. */
const asking = (votes: boolean[], nextCursor: string | null = null) =>
  serve({ 'GET /api/v1/approvals': () => json({ items: votes.map((mayVote, i) => ({ executionId: `e${i}`, mayVote })), nextCursor }) })
const show = async (folded = false) => (await mountAt(NavRail, '/', { props: { folded } })).wrapper

/** A live feed of a test. */
class Feed extends EventTarget {
  static open: Feed | undefined
  constructor(readonly address: string) {
    super()
    Feed.open = this
    queueMicrotask(() => this.dispatchEvent(new Event('open')))
  }

  changed(topic: string): void {
    this.dispatchEvent(new MessageEvent('changed', { data: JSON.stringify({ topics: [topic], seq: 1 }) }))
  }

  close(): void {
    if (Feed.open === this) Feed.open = undefined
  }
}

describe('the number of approvals that wait', () => {
  it('goes with the live feed of approvals, and asks no more often', async () => {
    vi.stubGlobal('EventSource', Feed)
    const votes = [true, false, true]
    const calls = asking(votes)
    await signInAs(['execution:read', 'approval:vote'])
    const wrapper = await show()
    await vi.waitFor(() => expect(wrapper.get('a[href="/approvals"]').text()).toBe('Approvals22 wait for your vote'))
    startFeed(new QueryClient())
    expect(new URL(calls[0]?.url ?? '').search).toBe('?status=OPEN&mine=true&limit=99')
    await vi.waitFor(() => expect(Feed.open?.address).toBe('/api/v1/live?topics=approvals'), 5_000)
    expect(live.value, 'the page itself follows nothing').toBe(false)

    votes[0] = false
    for (const topic of ['executions', 'jobs']) Feed.open?.changed(topic)
    await new Promise((go) => setTimeout(go, 1_600)) // longer than the feed spreads its readers
    expect(calls).toHaveLength(1)
    Feed.open?.changed('approvals')
    await vi.waitFor(() => expect(wrapper.get('a[href="/approvals"]').text()).toBe('Approvals1one waits for your vote'), 5_000)
    expect(calls).toHaveLength(2)
    votes.splice(0)
    Feed.open?.changed('approvals')
    await vi.waitFor(() => expect(wrapper.get('a[href="/approvals"]').text(), 'none is no number').toBe('Approvals'), 5_000)
  }, 30_000)

  it('says no more than that there are more, also where the rail is folded', async () => {
    asking(Array.from({ length: 99 }, () => true), 'next')
    await signInAs(['execution:read', 'approval:vote'])
    await setLanguage('zh-CN')
    const wrapper = await show(true)
    await vi.waitFor(() => expect(wrapper.get('a[href="/approvals"]').text()).toBe('审批99+99+ 项等待您投票'))
    await setLanguage('en')
  })

  it.each([['reads no executions', ['job:read', 'approval:vote']], ['may not vote', ['job:read', 'execution:read']]] as const)('is asked for by nobody who %s', async (_, permissions) => {
    const calls = asking([true])
    await signInAs([...permissions])
    const wrapper = await show()
    await new Promise((go) => setTimeout(go, 100))
    expect(calls).toEqual([])
    expect(wrapper.findAll('.count')).toEqual([])
  })
})
