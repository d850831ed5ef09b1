import type { Model } from '@/shared/api/types'

export type LogLine = Model<'LogLine'>

/** A follower of a log is told of lines in order, none twice, and of the end. */
export interface LogEvents {
  line: (line: LogLine) => void
  /** The run is final, and its log whole. */
  end: (status: string) => void
  /** Whether the stream is open. */
  open: (open: boolean) => void
}

export interface Following {
  close: () => void
}

type Source = Pick<EventSource, 'addEventListener' | 'close' | 'readyState'>

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000
const CLOSED = 2

/**
 * Follows a log, also over a lost connection: it goes on after the last line that came.
 * The browser itself reconnects after a cut; after a refusal it gives up, and this waits and tries.
 */
export function follow(connect: (cursor: string) => Source, events: LogEvents): Following {
  let last = 0
  let wait = FIRST_WAIT_MS
  let timer: ReturnType<typeof setTimeout> | undefined
  let source: Source | undefined
  let over = false

  const close = () => {
    over = true
    clearTimeout(timer)
    source?.close()
  }
  const open = () => {
    const mine = connect(last === 0 ? '' : String(last))
    source = mine
    mine.addEventListener('open', () => {
      wait = FIRST_WAIT_MS
      events.open(true)
    })
    mine.addEventListener('line', (event) => {
      const line = JSON.parse((event as MessageEvent<string>).data) as LogLine
      if (over || line.seq <= last) return
      last = line.seq
      events.line(line)
    })
    mine.addEventListener('end', (event) => {
      const { status } = JSON.parse((event as MessageEvent<string>).data) as { status: string }
      close()
      events.end(status)
    })
    mine.addEventListener('error', () => {
      if (over) return
      events.open(false)
      if (mine.readyState !== CLOSED) return
      mine.close()
      timer = setTimeout(open, wait)
      wait = Math.min(wait * 2, LONGEST_WAIT_MS)
    })
  }
  open()
  return { close }
}
