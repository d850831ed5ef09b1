import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { follow } from './follow'

class Fake extends EventTarget {
  readyState = 1
  close = vi.fn()
  tell(name: string, data: unknown): void {
    this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data) }))
  }
}

describe('following a log', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('goes on after the last line, and tells none twice', () => {
    const sources: Fake[] = []
    const cursors: string[] = []
    const seen: number[] = []
    const end = vi.fn()
    follow((cursor) => {
      cursors.push(cursor)
      const next = new Fake()
      sources.push(next)
      return next as unknown as EventSource
    }, { line: (l) => seen.push(l.seq), end, open: () => undefined })
    sources[0]?.tell('line', { seq: 1 })
    sources[0]?.tell('line', { seq: 7 })
    const first = sources[0] as Fake
    first.readyState = 2
    first.dispatchEvent(new Event('error'))
    vi.advanceTimersByTime(1_000)
    expect(cursors).toEqual(['', '7'])
    sources[1]?.tell('line', { seq: 7 })
    sources[1]?.tell('line', { seq: 8 })
    sources[1]?.tell('end', { status: 'SUCCESS' })
    expect(seen).toEqual([1, 7, 8])
    expect(end).toHaveBeenCalledWith('SUCCESS')
    expect(sources[1]?.close).toHaveBeenCalled()
  })
})
