import type { LoadMinute } from './queries'

/** An hour of the plan: sixty minutes of the clock, those that are not asked for are null. */
interface Hour {
  /** The first minute of it that is in the plan. */
  time: string
  minutes: (LoadMinute | null)[]
  fires: number
  peak: LoadMinute
}

/** A minute has more than this, and at least so many times the usual, to be a stampede. */
const STAMPEDE_FIRES = 20
const STAMPEDE_TIMES = 5

/** Cuts the plan in hours of the clock; `first` is the minute of the hour that the plan begins at. */
export function hoursOf(items: readonly LoadMinute[], first: number): Hour[] {
  const hours: Hour[] = []
  items.forEach((item, n) => {
    const place = first + n
    let hour = hours[Math.floor(place / 60)]
    if (!hour) {
      hour = { time: item.time, minutes: new Array<LoadMinute | null>(60).fill(null), fires: 0, peak: item }
      hours.push(hour)
    }
    hour.minutes[place % 60] = item
    hour.fires += item.fires
    if (item.fires > hour.peak.fires) hour.peak = item
  })
  return hours
}

/** The scale of the map reaches at least so far: one start a minute is not much. */
const LEAST_SCALE = 20
/** Minutes that are as busy as the average stay in the middle of the scale. */
const SCALE_MEANS = 4

/** The fires of an average minute of the plan. */
export function meanOf(items: readonly LoadMinute[]): number {
  return items.length === 0 ? 0 : items.reduce((sum, i) => sum + i.fires, 0) / items.length
}

/** How many starts are a stampede: more than this. */
function stampedeAbove(items: readonly LoadMinute[]): number {
  return Math.max(STAMPEDE_FIRES, meanOf(items) * STAMPEDE_TIMES)
}

/** The minutes that start far more than the average, the busiest first. */
export function stampedes(items: readonly LoadMinute[]): LoadMinute[] {
  const above = stampedeAbove(items)
  return items.filter((i) => i.fires > above).sort((a, b) => b.fires - a.fires)
}

/**
 * How dark minutes are: 0 (none) to 4 by the square root, so that small numbers stay apart, and 5 for
 * a stampede. A plan whose minutes are all alike is of a middle tone: nothing stands out in it.
 */
export function levels(items: readonly LoadMinute[]): (fires: number) => number {
  const above = stampedeAbove(items)
  const peak = items.reduce((most, i) => Math.max(most, i.fires), 0)
  const scale = Math.max(peak, meanOf(items) * SCALE_MEANS, LEAST_SCALE)
  return (fires) => (fires <= 0 ? 0 : fires > above ? 5 : Math.min(4, Math.max(1, Math.ceil(Math.sqrt(fires / scale) * 4))))
}

/** The most starts of a minute. */
export function peakOf(items: readonly LoadMinute[]): number {
  return items.reduce((most, i) => Math.max(most, i.fires), 0)
}

/** The least jitter of those offered that leaves a minute with no more starts than are a stampede; else the greatest. */
export function wanted(fires: number, offered: readonly number[]): number {
  return offered.find((minutes) => fires / minutes <= STAMPEDE_FIRES / 2) ?? offered.at(-1) ?? 1
}
