// Each state as a shape, a word and a colour, for people who do not see one of them.
// The words are shared.status.STATE in the texts; the colours are tokens.
import type { Model } from '@/shared/api/types'

/** The colours of states; tokens --NAME and --NAME-soft. */
export type Tone = 'good' | 'run' | 'warn' | 'bad' | 'dead' | 'wait' | 'off'

/** The shapes, as paths in a square of 16; shapes.ts draws them. */
export type Shape =
  | 'check' | 'cross' | 'hourglass' | 'play' | 'clock' | 'slash' | 'skip' | 'octagon' | 'dashed' | 'pause' | 'flag'
  | 'triangle' | 'down' | 'bell' | 'hand' | 'info' | 'question'

export interface Look {
  tone: Tone
  shape: Shape
}

const execution = {
  PLANNED: { tone: 'off', shape: 'dashed' },
  WAITING: { tone: 'wait', shape: 'clock' },
  RUNNING: { tone: 'run', shape: 'play' },
  SUCCESS: { tone: 'good', shape: 'check' },
  FAILED: { tone: 'bad', shape: 'cross' },
  TIMEOUT: { tone: 'warn', shape: 'hourglass' },
  CANCELLED: { tone: 'off', shape: 'slash' },
  SKIPPED: { tone: 'off', shape: 'skip' },
  DEAD: { tone: 'dead', shape: 'octagon' },
} as const satisfies Record<Model<'Fire'>['outcome'], Look>

const job = {
  CREATED: { tone: 'off', shape: 'dashed' },
  ENABLED: { tone: 'good', shape: 'check' },
  PAUSED: { tone: 'warn', shape: 'pause' },
  FINISHED: { tone: 'off', shape: 'flag' },
} as const satisfies Record<Model<'JobStatus'>, Look>

const node = {
  UP: { tone: 'good', shape: 'check' },
  SUSPECT: { tone: 'warn', shape: 'question' },
  DOWN: { tone: 'bad', shape: 'cross' },
  DRAINING: { tone: 'run', shape: 'down' },
} as const satisfies Record<Model<'NodeStatus'>, Look>

const alert = {
  PENDING: { tone: 'wait', shape: 'clock' },
  FIRING: { tone: 'bad', shape: 'bell' },
  ACKNOWLEDGED: { tone: 'warn', shape: 'hand' },
  RESOLVED: { tone: 'good', shape: 'check' },
} as const satisfies Record<Model<'alert.Status'>, Look>

const level = {
  INFO: { tone: 'run', shape: 'info' },
  WARNING: { tone: 'warn', shape: 'triangle' },
  CRITICAL: { tone: 'bad', shape: 'octagon' },
} as const satisfies Record<Model<'alert.Level'>, Look>

/** Messages of alerts, and what alerts do. */
const delivery = {
  OPEN: { tone: 'wait', shape: 'clock' },
  SENT: { tone: 'good', shape: 'check' },
  DONE: { tone: 'good', shape: 'check' },
  REFUSED: { tone: 'bad', shape: 'slash' },
  FAILED: { tone: 'bad', shape: 'cross' },
  UNKNOWN: { tone: 'warn', shape: 'question' },
  DEAD: { tone: 'dead', shape: 'octagon' },
  SUPPRESSED: { tone: 'off', shape: 'slash' },
} as const satisfies Record<Model<'AlertDelivery'>['state'] | Model<'alert.Result'> | Model<'alert.ActionState'>, Look>

const backfill = {
  ACTIVE: { tone: 'run', shape: 'play' },
  DONE: { tone: 'good', shape: 'check' },
  CANCELLED: { tone: 'off', shape: 'slash' },
} as const satisfies Record<Model<'BackfillStatus'>, Look>

/** Steps of a workflow run. HELD is a failure that waits for a person, REUSED a success that is that of a former run. */
const step = {
  NOT_DECIDED: { tone: 'off', shape: 'dashed' },
  WAITING: execution.WAITING,
  RUNNING: execution.RUNNING,
  SUCCESS: execution.SUCCESS,
  FAILED: execution.FAILED,
  TIMEOUT: execution.TIMEOUT,
  CANCELLED: execution.CANCELLED,
  SKIPPED: execution.SKIPPED,
  DEAD: execution.DEAD,
  HELD: { tone: 'warn', shape: 'hand' },
  REUSED: { tone: 'good', shape: 'down' },
} as const satisfies Record<Model<'WorkflowStep'>['state'] | 'HELD' | 'REUSED', Look>

const phase = {
  OPEN: { tone: 'run', shape: 'play' },
  PAUSED: { tone: 'warn', shape: 'pause' },
  CANCELLING: { tone: 'off', shape: 'slash' },
  CLOSED: { tone: 'off', shape: 'flag' },
} as const satisfies Record<Model<'WorkflowRun'>['phase'], Look>

/** Approvals, by what became of them. */
const approval = {
  OPEN: { tone: 'wait', shape: 'clock' },
  APPROVED: { tone: 'good', shape: 'check' },
  REJECTED: { tone: 'bad', shape: 'cross' },
  TIMEOUT: { tone: 'warn', shape: 'hourglass' },
  CANCELLED: { tone: 'off', shape: 'slash' },
  SKIPPED: { tone: 'off', shape: 'skip' },
  FAILED: { tone: 'bad', shape: 'octagon' },
} as const satisfies Record<string, Look>

/** The states by what has them. */
export const statuses = { execution, job, node, alert, level, delivery, backfill, step, phase, approval }
export type Kind = keyof typeof statuses

const unknown: Look = { tone: 'off', shape: 'question' }

/** How a state looks; a state of a newer server is shown by its name. */
export function lookOf(kind: Kind, state: string): Look {
  return (statuses[kind] as Record<string, Look>)[state] ?? unknown
}

/** The key of the word of a state. A delivery that is dead is no dead letter, and a run that is open waits for nobody. */
export function wordOf(kind: Kind, state: string): string {
  if (kind === 'phase' && state === 'OPEN') return 'shared.status.UNDER_WAY'
  return kind === 'delivery' && state === 'DEAD' ? 'shared.status.GIVEN_UP' : `shared.status.${state}`
}
