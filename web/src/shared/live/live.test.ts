import { QueryClient } from '@tanstack/vue-query'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BEAT_MS, Election, type Word } from './leader'
import { Refresher } from './refresher'
import { Stream, type Source } from './stream'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Tabs of one browser that hear each other. */
class Browser {
  private readonly ears = new Map<string, (word: Word) => void>()

  tab(id: string, seen = true) {
    const tab = { id, seen, wants: [] as string[], events: [] as string[][], open: false }
    const election = new Election(id, {
      post: (word) => this.ears.forEach((hear, other) => other !== id && hear(word)),
      listen: (hear) => this.ears.set(id, hear),
    }, {
      leads: (leading) => void (tab.wants = leading ? tab.wants : []),
      wants: (topics) => (tab.wants = topics),
      event: (topics) => tab.events.push(topics),
      open: (open) => (tab.open = open),
      seen: () => tab.seen,
      now: () => Date.now(),
    })
    const timer = setInterval(() => election.beat(), BEAT_MS)
    return { ...tab, tab, election, crash: () => { clearInterval(timer); this.ears.delete(id) } }
  }
}

describe('the tabs of a browser', () => {
  it('have one leader, which follows what all of them want', () => {
    const browser = new Browser()
    const a = browser.tab('a')
    a.election.want(['jobs'])
    vi.advanceTimersByTime(BEAT_MS)
    const b = browser.tab('b')
    b.election.want(['nodes'])
    vi.advanceTimersByTime(3 * BEAT_MS)
    expect([a.election.leading, b.election.leading]).toEqual([true, false])
    expect(a.tab.wants).toEqual(['jobs', 'nodes'])

    a.election.opened(true)
    a.election.told(['job:7'])
    expect(b.tab.open).toBe(true)
    expect(b.tab.events).toEqual([['job:7']])
  })

  it('have another leader soon after one is gone, with and without a word', () => {
    const browser = new Browser()
    const [a, b] = [browser.tab('a'), browser.tab('b')]
    vi.advanceTimersByTime(2 * BEAT_MS)
    expect(a.election.leading).toBe(true)
    a.crash()
    vi.advanceTimersByTime(4 * BEAT_MS)
    expect(b.election.leading).toBe(true)

    const c = browser.tab('c')
    vi.advanceTimersByTime(2 * BEAT_MS)
    b.election.leave()
    b.crash()
    vi.advanceTimersByTime(BEAT_MS)
    expect(c.election.leading).toBe(true)
  })

  it('agree where two lead: the one that is seen stays', () => {
    const browser = new Browser()
    const hidden = browser.tab('a', false)
    vi.advanceTimersByTime(2 * BEAT_MS)
    expect(hidden.election.leading).toBe(true)
    const seen = browser.tab('b')
    // The browser slowed the timers of the hidden tab, so that it was silent.
    vi.setSystemTime(Date.now() + 60_000)
    seen.election.beat()
    vi.advanceTimersByTime(BEAT_MS)
    expect([hidden.election.leading, seen.election.leading]).toEqual([false, true])
  })
})

describe('the stream', () => {
  const nothing: () => void = () => undefined
  const sources: (Source & { address: string; closed: boolean; onopen(): void; onerror(): void; tell(data: string): void })[] = []
  const changed = vi.fn()
  const open = vi.fn()

  function stream() {
    sources.length = 0
    changed.mockReset()
    open.mockReset()
    return new Stream({
      changed, open,
      connect: (address) => {
        const source = {
          address, closed: false,
          onopen: nothing, onerror: nothing, tell: nothing as (data: string) => void,
          on: (event: 'open' | 'error', listener: () => void) => void (source[`on${event}`] = listener),
          onChanged: (listener: (data: string) => void) => void (source.tell = listener),
          close: () => void (source.closed = true),
        }
        sources.push(source)
        return source
      },
    })
  }

  it('names the topics, and opens anew only where they change', () => {
    const s = stream()
    s.follow(['jobs', 'nodes'])
    s.follow(['jobs', 'nodes'])
    expect(sources.map((x) => x.address)).toEqual(['/api/v1/live?topics=jobs%2Cnodes'])
    s.follow(['nodes'])
    expect(sources[0]?.closed).toBe(true)
    expect(sources).toHaveLength(2)
    s.follow([])
    expect(sources[1]?.closed).toBe(true)
  })

  it('tells topics, and nothing of what it does not understand', () => {
    stream().follow(['jobs'])
    sources[0]?.tell('{"topics":["job:1"],"seq":4}')
    sources[0]?.tell('no json')
    sources[0]?.tell('{"topics":"jobs"}')
    expect(changed.mock.calls).toEqual([[['job:1']]])
  })

  it('opens again after a loss with growing waits, and asks for everything then', () => {
    stream().follow(['jobs'])
    sources[0]?.onerror()
    expect(open).toHaveBeenLastCalledWith(false)
    vi.advanceTimersByTime(1_000)
    expect(sources).toHaveLength(2)
    sources[1]?.onerror()
    vi.advanceTimersByTime(900)
    expect(sources).toHaveLength(2)
    vi.advanceTimersByTime(1_100)
    expect(sources).toHaveLength(3)
    for (let i = 2; i < 12; i++) {
      sources[i]?.onerror()
      vi.advanceTimersByTime(30_000)
    }
    expect(sources).toHaveLength(13)
    sources[12]?.onopen()
    expect(changed).toHaveBeenCalledExactlyOnceWith(['many'])
  })
})

describe('the refresher', () => {
  it('asks again within half a second, and at most once a second', () => {
    const queries = new QueryClient()
    const asked = vi.spyOn(queries, 'invalidateQueries')
    const refresher = new Refresher(queries)
    for (let i = 0; i < 100; i++) refresher.changed(['jobs'])
    vi.advanceTimersByTime(500)
    expect(asked).toHaveBeenCalledOnce()
    for (let i = 0; i < 30; i++) {
      refresher.changed(['jobs'])
      vi.advanceTimersByTime(100)
    }
    expect(asked.mock.calls.length).toBeLessThanOrEqual(4)
    refresher.changed(['nodes'])
    vi.advanceTimersByTime(500)
    // The jobs that still wait may be asked for after the nodes, before them, or not at all.
    expect(asked).toHaveBeenCalledWith({ queryKey: ['nodes'] })
  })
})
