import type { Look } from '@/shared/status/status'
import type { Fire } from '../queries'
import type { Execution } from '../runs/queries'

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

/** A mark of the strip: a fire of the schedule, or a run that somebody asked for. */
interface Mark { at: string; fire?: Fire; run?: Execution }

/** The fires and the runs beside them, by time. A run that the ledger counts to a fire is no mark of its own. */
export function marksOf(fires: readonly Fire[], runs: readonly Execution[]): Mark[] {
  const counted = new Set(fires.flatMap((fire) => [...fire.executionIds, ...fire.replays]))
  return [
    ...fires.map((fire) => ({ at: fire.scheduledTime, fire })),
    ...runs.filter((run) => !counted.has(run.id)).map((run) => ({ at: run.scheduledTime, run })),
  ].sort((a, b) => a.at.localeCompare(b.at))
}

/** The look of a line of the ledger. */
export function kindOf(fire: Pick<Fire, 'outcome' | 'latenessMs' | 'replays'>): Kind {
  const final = { FAILED: 'failed', TIMEOUT: 'timeout', DEAD: 'dead', CANCELLED: 'cancelled', SKIPPED: 'skipped', RUNNING: 'running', WAITING: 'waiting', PLANNED: 'toCome' } as const
  if (fire.outcome === 'RUNNING' || fire.outcome === 'WAITING' || fire.outcome === 'PLANNED') return final[fire.outcome]
  if (fire.replays.length > 0) return 'retried'
  if (fire.outcome !== 'SUCCESS') return final[fire.outcome]
  return fire.latenessMs > LATE_MS ? 'late' : 'onTime'
}
