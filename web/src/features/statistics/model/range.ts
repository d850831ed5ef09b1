import { absolute } from '@/shared/time/format'
import { momentOf } from '@/shared/time/wall'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Hours are kept for three days. */
const HOURS_MS = 3 * DAY_MS

/** The ranges that end now: hours back, or days with today. */
export const ranges = {
  '24h': { hours: 24 }, '3d': { hours: 71 }, '7d': { days: 7 }, '30d': { days: 30 }, '90d': { days: 90 }, '365d': { days: 365 },
} as const
type Range = keyof typeof ranges
export type By = 'HOUR' | 'DAY'

/** A span of time as the server takes it. */
interface Span {
  from: string
  to?: string
}

const iso = (moment: number) => new Date(moment).toISOString()

/** The day after so many days: 2026-03-01 and 30 is 2026-03-31. */
function dayAfter(day: string, days: number): string {
  return iso(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).slice(0, 10)
}

/** The first moment of a day in a zone; where midnight is skipped, the one after the gap. */
export function midnight(day: string, zone: string): number {
  return Date.parse(momentOf(`${day}T00:00`, zone))
}

/** Whether a text is a day that there is. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && dayAfter(text, 0) === text
}

/** The span of a range that ends now, or of days that somebody chose; undefined where these say nothing. */
export function spanOf(range: string, days: { from: string; to: string }, now: number, zone: string): Span | undefined {
  if (range === 'days') {
    if (!isDay(days.from) || !isDay(days.to) || days.from > days.to) return undefined
    return { from: iso(midnight(days.from, zone)), to: iso(midnight(dayAfter(days.to, 1), zone)) }
  }
  const known = ranges[range as Range] ?? ranges['24h']
  if ('hours' in known) return { from: iso(Math.floor(now / HOUR_MS) * HOUR_MS - (known.hours - 1) * HOUR_MS) }
  return { from: iso(midnight(dayAfter(absolute(now, zone, 'day'), 1 - known.days), zone)) }
}

/** Whether the hours of a span are still kept. */
export function hasHours(span: Span, now: number): boolean {
  return Date.parse(span.from) > now - HOURS_MS
}

/** The starts of all hours or days of a span, in order; days may have 23 or 25 hours. */
export function startsOf(from: string, to: string, by: By, zone: string): number[] {
  const starts: number[] = []
  const end = Date.parse(to)
  if (by === 'HOUR') {
    for (let at = Date.parse(from); at < end; at += HOUR_MS) starts.push(at)
    return starts
  }
  for (let day = absolute(from, zone, 'day'), at = midnight(day, zone); at < end; day = dayAfter(day, 1), at = midnight(day, zone)) {
    if (at !== starts.at(-1)) starts.push(at) // a day that there was not begins as the next one does
  }
  return starts
}
