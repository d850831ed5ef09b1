import { shallowReactive } from 'vue'
import { plain } from './ansi'
import type { Model } from '@/shared/api/types'

/** The lines of a log. They come in gushes and are shown once a frame; only `count` is reactive. */
export class Lines {
  private readonly all: Model<'LogLine'>[] = []
  private coming: Model<'LogLine'>[] = []
  private due = false
  private closed = false
  /** How many lines there are to see. */
  readonly state = shallowReactive({ count: 0 })

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
    for (const line of this.coming) this.all.push(line)
    this.coming = []
    this.state.count = this.all.length
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
