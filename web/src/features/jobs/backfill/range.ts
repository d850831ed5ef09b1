import type { Model } from '@/shared/api/types'
import { momentOf, wallOf } from '@/shared/time/wall'

/** The question to the server. */
export interface Range {
  from: string
  to: string
  maxParallel: number
  /** Times whose fires failed run again, too. A server of the former release refuses the field, so false is not sent. */
  includeFailed?: true
}

/** What a person chose. */
interface Chosen {
  from: string
  to: string
  parallel: number
  failed: boolean
}

/** The range of wall times in a zone. A text that is no time stays empty, and the server says so. */
export function rangeOf({ from, to, parallel, failed }: Chosen, zone: string): Range {
  return { from: momentOf(from, zone), to: momentOf(to, zone), maxParallel: parallel, ...(failed && { includeFailed: true }) }
}

/** The last whole day of a zone, from midnight to midnight, as fields of time take it. */
export function yesterday(now: number, zone: string): [from: string, to: string] {
  const today = wallOf(now, zone).slice(0, 10)
  const before = new Date(Date.parse(`${today}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10)
  return [`${before}T00:00`, `${today}T00:00`]
}

/** Whether the schedule names times in advance, so that past ones can be made up for. */
export function hasTimes(schedule: Pick<Model<'Schedule'>, 'kind'>): boolean {
  return schedule.kind !== 'NONE' && schedule.kind !== 'FIXED_DELAY'
}

/** The share of the times that are decided: they ran before, or have a run now. */
export function shareOf(b: Pick<Model<'Backfill'>, 'total' | 'alreadyRun' | 'started' | 'status'>): number {
  if (b.status === 'DONE') return 1
  return b.total === 0 ? 0 : Math.min(1, (b.alreadyRun + b.started) / b.total)
}

/** A time of a plan: whether it would run, or is left out since it ran; and whether it would run again since it failed. */
interface Planned {
  time: string
  runs: boolean
  failed: boolean
}

/** The times of a plan in order, as far as the server names them, and how many it does not name. */
export function timesOf(plan: Pick<Model<'BackfillPlan'>, 'fireTimes' | 'failedTimes' | 'alreadyRunTimes' | 'total'>, most: number): { times: Planned[]; more: number } {
  const failed = new Set(plan.failedTimes)
  const all = [
    ...plan.fireTimes.map((time) => ({ time, runs: true, failed: failed.has(time) })),
    ...plan.alreadyRunTimes.map((time) => ({ time, runs: false, failed: false })),
  ]
  all.sort((a, b) => a.time.localeCompare(b.time))
  const times = all.slice(0, most)
  return { times, more: plan.total - times.length }
}
