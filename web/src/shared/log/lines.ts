import { shallowReactive } from 'vue'
import { plain } from './ansi'
import type { Model } from '@/shared/api/types'

/** The lines of a log. They come in gushes and are shown once a frame; only `state` is reactive. */
export class Lines {
  private readonly all: Model<'LogLine'>[] = []
  private coming: Model<'LogLine'>[] = []
  private due = false
  private closed = false
  /** How many lines there are to see, and how many were replaced by the next one of their stream. */
  readonly state = shallowReactive({ count: 0, replaced: 0 })
  private readonly latest = new Map<string, number>()

  /** `soon` runs a function at the next frame. */
  constructor(private readonly soon: (run: () => void) => void = (run) => requestAnimationFrame(run)) {}

  add(line: Model<'LogLine'>): void {
    this.coming.push(line)
    if (this.due) return
    this.due = true
    this.soon(() => this.take())
  }

  close(): void {
    this.closed = true
  }

  at(index: number): Model<'LogLine'> | undefined {
    return this.all[index]
  }

  slice(from: number, to: number): Model<'LogLine'>[] {
    return this.all.slice(from, to)
  }

  /** The places of the lines that contain a text, whatever its case; from a place on. */
  find(text: string, from = 0): number[] {
    const wanted = text.toLowerCase()
    const found: number[] = []
    if (wanted === '') return found
    for (let at = from; at < this.all.length; at++) {
      const line = this.all[at]?.line ?? ''
      if (plain(line).toLowerCase().includes(wanted)) found.push(at)
    }
    return found
  }

  /** The whole log, for a file. */
  text(): string {
    return this.all.map((line) => `${line.line}\n`).join('')
  }

  private take(): void {
    this.due = false
    if (this.closed) return
    for (const line of this.coming) this.put(line)
    this.coming = []
    this.state.count = this.all.length
  }

  /** Adds a line, or puts it in the place of an unfinished one: a bar of progress, a prompt. */
  private put(line: Model<'LogLine'>): void {
    const stream = `${line.attempt} ${line.stream}`
    const at = this.latest.get(stream) ?? -1
    const before = this.all[at]
    if (before?.unfinished && line.line !== '') {
      this.state.replaced++
      this.all.splice(at, 1)
      for (const [other, place] of this.latest) if (place > at) this.latest.set(other, place - 1)
    }
    this.latest.set(stream, this.all.length)
    this.all.push(line)
  }
}

export const ROW = 20

/** Which lines are rendered: those on screen, and a few around them. */
export function windowOf(scrollTop: number, height: number, count: number, around = 20): { from: number; to: number } {
  const first = Math.floor(scrollTop / ROW) - around
  const last = Math.ceil((scrollTop + height) / ROW) + around
  const to = Math.max(0, Math.min(count, last))
  return { from: Math.max(0, Math.min(first, to)), to }
}
