import type { Model } from '@/shared/api/types'
import { momentOf, wallOf } from '@/shared/time/wall'

/** What the server is asked for. */
export interface Range {
  from: string
  to: string
  maxParallel: number
}

/** The range of wall times in a zone. What is no time stays empty, and the server says so. */
export function rangeOf(from: string, to: string, maxParallel: number, zone: string): Range {
  return { from: momentOf(from, zone), to: momentOf(to, zone), maxParallel }
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

/** A time of a plan: whether it would run, or is left out since it ran. */
export interface Planned {
  time: string
  runs: boolean
}

/** The times of a plan in order, as far as the server names them, and how many it does not name. */
export function timesOf(plan: Pick<Model<'BackfillPlan'>, 'fireTimes' | 'alreadyRunTimes' | 'total'>, most: number): { times: Planned[]; more: number } {
  const all = [...plan.fireTimes.map((time) => ({ time, runs: true })), ...plan.alreadyRunTimes.map((time) => ({ time, runs: false }))]
  all.sort((a, b) => a.time.localeCompare(b.time))
  const times = all.slice(0, most)
  return { times, more: plan.total - times.length }
}
