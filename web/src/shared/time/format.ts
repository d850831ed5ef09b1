import { languageNow, t } from '@/shared/text'

const formats = new Map<string, Intl.DateTimeFormat>()

function partsIn(zone: string): Intl.DateTimeFormat {
  let found = formats.get(zone)
  if (!found) {
    found = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit',
      second: '2-digit', hourCycle: 'h23', timeZoneName: 'shortOffset',
    })
    formats.set(zone, found)
  }
  return found
}

/** How much of a time is shown. */
export type Detail = 'second' | 'minute' | 'day' | 'clock'

/** A time in a zone, with the zone's distance from UTC: 2026-11-22 18:00:05 UTC+8. */
export function absolute(time: string | number | Date, zone: string, detail: Detail = 'second'): string {
  const part: Record<string, string> = {}
  for (const { type, value } of partsIn(zone).formatToParts(new Date(time))) part[type] = value
  const day = `${part['year']}-${part['month']}-${part['day']}`
  const clock = `${part['hour']}:${part['minute']}${detail === 'minute' ? '' : `:${part['second']}`}`
  const offset = (part['timeZoneName'] ?? '').replace(/^GMT(\+0)?$/, 'UTC').replace('GMT', 'UTC')
  if (detail === 'day') return day
  if (detail === 'clock') return clock
  return `${day} ${clock} ${offset}`
}

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
]

/** How far a time is from now, in its greatest unit: 3 minutes ago. */
export function relative(time: string | number | Date, now: number): string {
  const distance = new Date(time).getTime() - now
  if (Math.abs(distance) < 1_000) return t('shared.time.now')
  const [unit, length] = steps.find(([, ms]) => Math.abs(distance) >= ms) ?? ['second', 1_000]
  const format = new Intl.RelativeTimeFormat(languageNow(), { numeric: 'always', style: 'short' })
  return format.format(Math.trunc(distance / length), unit)
}
