// The fires of a preview: their days and clocks in the zone of the job, and what
// the changes of the clocks make of them.
import { offsetAt, wallOf } from '@/shared/time/wall'

/** `moved`: the clocks left its time out. `skipped`: left out by dstGap SKIP. `again`: the second of two. */
type Mark = '' | 'moved' | 'skipped' | 'again'

interface ShownFire {
  time: string
  day: string
  clock: string
  offset: number
  mark: Mark
  /** The distance from UTC before, where the clocks changed since the fire before. */
  changedFrom: number | undefined
}

const HALF_SECOND = 500

/**
 * `times` are those of the schedule; `whole` those of the same schedule that leaves nothing out:
 * what it has more, within the same span, is skipped.
 */
export function showFires(times: readonly string[], zone: string, whole: readonly string[] = []): ShownFire[] {
  const kept = new Set(times.map((t) => Date.parse(t)))
  const last = Math.max(...kept, -Infinity)
  const left = whole.filter((t) => Date.parse(t) <= last && !kept.has(Date.parse(t)))
  const all = [...times, ...left].sort((a, b) => Date.parse(a) - Date.parse(b))
  let before: number | undefined
  const seen = new Set<string>()
  return all.map((time) => {
    const ms = Date.parse(time)
    const wall = wallOf(ms, zone)
    const offset = offsetAt(ms, zone)
    const jump = offset - offsetAt(ms - HALF_SECOND, zone)
    const mark: Mark = !kept.has(ms) ? 'skipped' : seen.has(wall) ? 'again' : jump > 0 ? 'moved' : ''
    seen.add(wall)
    const changedFrom = before !== undefined && before !== offset ? before : undefined
    before = offset
    return { time, day: wall.slice(0, 10), clock: wall.slice(11), offset, mark, changedFrom }
  })
}

export interface CalendarDay { day: string; number: number; fires: number; marked: boolean }
export interface CalendarMonth { month: string; weeks: (CalendarDay | undefined)[][] }

/** The months of the fires, at most `most`, in weeks that begin on Monday. */
export function calendarOf(fires: readonly ShownFire[], most = 2): CalendarMonth[] {
  const byDay = new Map<string, ShownFire[]>()
  for (const fire of fires) byDay.set(fire.day, [...(byDay.get(fire.day) ?? []), fire])
  const months = [...new Set(fires.map((f) => f.day.slice(0, 7)))].slice(0, most)
  return months.map((month) => {
    const [year = 0, number = 0] = month.split('-').map(Number)
    const length = new Date(Date.UTC(year, number, 0)).getUTCDate()
    const lead = (new Date(Date.UTC(year, number - 1, 1)).getUTCDay() + 6) % 7
    const cells: (CalendarDay | undefined)[] = Array.from({ length: lead }, () => undefined)
    for (let n = 1; n <= length; n++) {
      const day = `${month}-${String(n).padStart(2, '0')}`
      const own = byDay.get(day) ?? []
      cells.push({
        day, number: n, fires: own.filter((f) => f.mark !== 'skipped').length,
        marked: own.some((f) => f.mark !== '' || f.changedFrom !== undefined),
      })
    }
    while (cells.length % 7 !== 0) cells.push(undefined)
    return { month, weeks: Array.from({ length: cells.length / 7 }, (_, i) => cells.slice(i * 7, i * 7 + 7)) }
  })
}
