// Times of the clock on the wall in a zone, as <input type="datetime-local"> has them.

const formats = new Map<string, Intl.DateTimeFormat>()

function parts(ms: number, zone: string): Record<string, string> {
  let format = formats.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23',
    })
    formats.set(zone, format)
  }
  return Object.fromEntries(format.formatToParts(new Date(ms)).map((p) => [p.type, p.value]))
}

/** The time on the wall: 2026-11-22T18:00:00. */
export function wallOf(time: string | number, zone: string): string {
  const p = parts(new Date(time).getTime(), zone)
  return `${p['year']}-${p['month']}-${p['day']}T${p['hour']}:${p['minute']}:${p['second']}`
}

/** How far the zone is from UTC at a moment, in minutes. */
export function offsetAt(ms: number, zone: string): number {
  return Math.round((Date.parse(`${wallOf(ms, zone)}Z`) - Math.floor(ms / 1000) * 1000) / 60_000)
}

/** UTC+8, UTC−3:30. */
export function offsetText(minutes: number): string {
  if (minutes === 0) return 'UTC'
  const [h, m] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `UTC${minutes < 0 ? '−' : '+'}${h}${m === 0 ? '' : `:${String(m).padStart(2, '0')}`}`
}

/** Whether the clock of a zone never shows a time, because it jumps over it. */
export function skipped(wall: string, zone: string): boolean {
  const moment = momentOf(wall, zone)
  return moment !== '' && wallOf(moment, zone) !== (wall.length === 16 ? `${wall}:00` : wall)
}

/** The moment of a time on the wall: the first at which clocks show it or a later time, as the server has it. So in a gap it is the one after the gap, and of two the earlier. Empty for what is no time. */
export function momentOf(wall: string, zone: string): string {
  const utc = Date.parse(`${wall.length === 16 ? `${wall}:00` : wall}Z`)
  if (Number.isNaN(utc)) return ''
  const [early, late] = [utc - 86_400_000, utc + 86_400_000].map((ms) => utc - offsetAt(ms, zone) * 60_000).sort((a, b) => a - b) as [number, number]
  const shows = (ms: number) => Date.parse(`${wallOf(ms, zone)}Z`)
  const fits = [early, late].find((ms) => shows(ms) === utc)
  if (fits !== undefined) return new Date(fits).toISOString()
  let [before, after] = [early, late] // The clocks go over it between the two.
  while (after - before > 1000) {
    const middle = before + Math.floor((after - before) / 2000) * 1000
    if (shows(middle) < utc) before = middle
    else after = middle
  }
  return new Date(after).toISOString()
}
