import type { Look } from '@/shared/status/status'
import type { Fire } from '../queries'

export type Kind =
  | 'onTime' | 'late' | 'failed' | 'timeout' | 'dead' | 'cancelled' | 'skipped' | 'retried' | 'running' | 'waiting' | 'toCome'

/** From how many milliseconds on a fire counts as late, as the statistics count it. */
const LATE_MS = 1_000

/** The kinds of fires by shape and colour; the words are jobs.ledger.kind. */
export const kinds: Record<Kind, Look> = {
  onTime: { tone: 'good', shape: 'check' },
  late: { tone: 'warn', shape: 'clock' },
  retried: { tone: 'run', shape: 'flag' },
  failed: { tone: 'bad', shape: 'cross' },
  timeout: { tone: 'warn', shape: 'hourglass' },
  dead: { tone: 'dead', shape: 'octagon' },
  cancelled: { tone: 'off', shape: 'slash' },
  skipped: { tone: 'off', shape: 'skip' },
  running: { tone: 'run', shape: 'play' },
  waiting: { tone: 'wait', shape: 'triangle' },
  toCome: { tone: 'off', shape: 'dashed' },
}

/** What a line of the ledger is shown as. */
export function kindOf(fire: Pick<Fire, 'outcome' | 'latenessMs' | 'replays'>): Kind {
  const final = { FAILED: 'failed', TIMEOUT: 'timeout', DEAD: 'dead', CANCELLED: 'cancelled', SKIPPED: 'skipped', RUNNING: 'running', WAITING: 'waiting', PLANNED: 'toCome' } as const
  if (fire.outcome === 'RUNNING' || fire.outcome === 'WAITING' || fire.outcome === 'PLANNED') return final[fire.outcome]
  if (fire.replays.length > 0) return 'retried'
  if (fire.outcome !== 'SUCCESS') return final[fire.outcome]
  return fire.latenessMs > LATE_MS ? 'late' : 'onTime'
}
