import { describe, expect, it } from 'vitest'
import type { Model } from '@/shared/api/types'
import { Lines, ROW, windowOf } from './lines'

const line = (seq: number): Model<'LogLine'> => ({ seq, line: `row ${seq}`, stream: 'STDOUT', attempt: 1, time: '2026-01-01T00:00:00Z' })

describe('lines', () => {
  it('show what came once a frame', () => {
    const frames: (() => void)[] = []
    const lines = new Lines((run) => frames.push(run))
    for (let seq = 1; seq <= 100_000; seq++) lines.add(line(seq))
    expect(lines.state.count).toBe(0)
    expect(frames).toHaveLength(1)
    frames[0]?.()
    expect(lines.state.count).toBe(100_000)
    expect(lines.find('ROW 99999')).toEqual([99_998])
    expect(lines.find('row 1', 99_990)).toEqual([99_999])
  })
  it('show the next line in the place of an unfinished one', () => {
    const lines = new Lines((run) => run())
    lines.add({ ...line(1), line: 'begin' })
    lines.add({ ...line(2), line: '10%', unfinished: true })
    lines.add({ ...line(3), line: 'careful', stream: 'STDERR' })
    lines.add({ ...line(4), line: '20%', unfinished: true })
    expect(lines.text()).toBe('begin\ncareful\n20%\n')
    lines.add({ ...line(5), line: '100%' })
    lines.add({ ...line(6), line: 'prompt', unfinished: true })
    lines.add({ ...line(7), line: 'again', attempt: 2 })
    expect(lines.text()).toBe('begin\ncareful\n100%\nprompt\nagain\n')
    expect(lines.state).toEqual({ count: 5, replaced: 2 })
  })
  it('take a window of what is on screen', () => {
    expect(windowOf(0, 400, 100_000)).toEqual({ from: 0, to: 40 })
    expect(windowOf(50_000 * ROW, 400, 100_000)).toEqual({ from: 49_980, to: 50_040 })
    expect(windowOf(9e9, 400, 100)).toEqual({ from: 100, to: 100 })
  })
})
