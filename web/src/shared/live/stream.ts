/** The events of a stream; EventSource, or its double in a test. */
export interface Source {
  on(event: 'open' | 'error', listener: () => void): void
  onChanged(listener: (data: string) => void): void
  close(): void
}

interface Hooks {
  changed(topics: string[]): void
  open(open: boolean): void
  connect(address: string): Source
}

const FIRST_MS = 1_000
const LONGEST_MS = 30_000
/** Addresses have a bound; beyond it the list of everything is one topic. */
const MOST_TOPICS = 50

/** Stream holds one connection to the live feed, and opens it again after jittered waits of 1–30 s. */
export class Stream {
  private source: Source | undefined
  private topics = ''
  private failures = 0
  private lost = false
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly hooks: Hooks) {}

  /** Follows these topics, and no others. None closes the stream. */
  follow(topics: string[]): void {
    const next = topics.slice(0, MOST_TOPICS).join(',')
    if (next === this.topics) return
    this.topics = next
    this.stop()
    // Between the old stream and the new one something may change.
    if (next !== '') this.connect()
  }

  close(): void {
    this.topics = ''
    this.stop()
  }

  private stop(): void {
    clearTimeout(this.timer)
    this.source?.close()
    this.source = undefined
  }

  private connect(): void {
    const source = this.hooks.connect(`/api/v1/live?topics=${encodeURIComponent(this.topics)}`)
    this.source = source
    source.on('open', () => {
      this.failures = 0
      this.hooks.open(true)
      if (this.lost) this.hooks.changed(['many'])
      this.lost = false
    })
    source.on('error', () => {
      if (this.source !== source) return
      this.stop()
      this.lost = true
      this.hooks.open(false)
      const wait = Math.min(FIRST_MS * 2 ** this.failures++, LONGEST_MS)
      this.timer = setTimeout(() => this.connect(), wait * (0.5 + Math.random() / 2))
    })
    source.onChanged((data) => {
      const topics = topicsOf(data)
      if (topics.length > 0) this.hooks.changed(topics)
    })
  }
}

function topicsOf(data: string): string[] {
  try {
    const parsed: unknown = JSON.parse(data)
    if (typeof parsed !== 'object' || parsed === null || !('topics' in parsed) || !Array.isArray(parsed.topics)) return []
    return parsed.topics.filter((topic): topic is string => typeof topic === 'string')
  } catch {
    return []
  }
}
