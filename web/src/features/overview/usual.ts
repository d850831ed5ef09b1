import type { Line, Overview } from './queries'

/** The runs of one hour of today, and those of the same hour of yesterday. */
export interface HourOfDay {
  start: string
  runs: number
  yesterday: number
}

const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** The hours of today, which began at `start`, up to that of `now`. */
export function hoursOfToday(lines: readonly Line[], start: number, now: number): HourOfDay[] {
  const runs = new Map(lines.map((line) => [Math.round((Date.parse(line.start) - start) / HOUR_MS), line.runs]))
  const whole = Math.max(0, Math.floor((now - start) / HOUR_MS))
  return Array.from({ length: whole + 1 }, (_, hour) => ({
    start: new Date(start + hour * HOUR_MS).toISOString(),
    runs: runs.get(hour) ?? 0,
    yesterday: runs.get(hour - 24) ?? 0,
  }))
}

/** How many runs failed in the last hour. */
export function failuresOf({ executions: { lastHour } }: Overview): number {
  return lastHour.failed + lastHour.timeout + lastHour.dead
}
