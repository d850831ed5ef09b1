import type { EChartsCoreOption } from 'echarts/core'
import { duration, number } from '@/shared/text/format'
import { absolute } from '@/shared/time/format'
import type { ChartTable } from '@/shared/ui/Chart.vue'
import type { Model, Query } from '@/shared/api/types'
import { momentOf } from '@/shared/time/wall'

type Statistics = Model<'Statistics'>
type Line = Statistics['items'][number]
export type Period = NonNullable<Query<'/api/v1/monitor/statistics'>['by']>

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** How far back is shown. Hours are kept for three days. */
export const SPANS: Record<Period, number> = { HOUR: 71 * HOUR, DAY: 30 * DAY }

/** An hour or a day of a chart; without a line where nothing ended in it. */
interface Slot {
  start: string
  label: string
  line: Line | undefined
}

/** The first moment of the day after the one of a moment, in a zone; that day may have 23 or 25 hours. */
function nextDay(moment: number, zone: string): number {
  const day = absolute(moment, zone, 'day')
  const next = new Date(Date.parse(`${day}T00:00:00Z`) + DAY).toISOString().slice(0, 10)
  return Date.parse(momentOf(`${next}T00:00`, zone))
}

/** How many slots are shown at least, also where the first ones are empty. */
const FEW = 24

/** The hours or days since the first one in which something ended, also those in which nothing did. */
export function slotsOf({ items, from, to }: Pick<Statistics, 'items' | 'from' | 'to'>, by: Period, zone: string): Slot[] {
  const starts = new Set(items.map((line) => Date.parse(line.start)))
  const end = Date.parse(to)
  for (let at = Date.parse(from); at < end; at = by === 'HOUR' ? at + HOUR : nextDay(at, zone)) {
    const near = [...starts].some((known) => by === 'DAY' && absolute(known, zone, 'day') === absolute(at, zone, 'day'))
    if (!near) starts.add(at)
  }
  const known = new Map(items.map((line) => [Date.parse(line.start), line]))
  const all = [...starts].sort((a, b) => a - b)
  const first = all.findIndex((at) => known.has(at))
  return all.slice(Math.min(Math.max(first, 0), Math.max(0, all.length - FEW))).map((at) => {
    const text = absolute(at, zone, 'minute')
    return { start: new Date(at).toISOString(), label: by === 'HOUR' ? text.slice(5, 16) : text.slice(5, 10), line: known.get(at) }
  })
}

export interface Words {
  time: string
  p50: string
  p95: string
  p99: string
  usual: string
  range: string
  late: string
  outcomes: Record<'success' | 'failed' | 'timeout' | 'cancelled' | 'dead' | 'skipped', string>
}

type Values = (number | null)[]

const line = (name: string, data: Values, more: object = {}) => ({ name, type: 'line', data, showSymbol: data.filter((v) => v !== null).length < 40, symbolSize: 5, ...more })

function base(slots: readonly Slot[], format: (value: number) => string) {
  return {
    legend: {},
    grid: { left: 8, right: 16, top: 36, bottom: 8, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
    xAxis: { type: 'category', data: slots.map((s) => s.label) },
    yAxis: { type: 'value', min: 0, minInterval: 1, axisLabel: { formatter: format } },
    tooltip: { valueFormatter: (value: unknown) => (typeof value === 'number' ? format(value) : '–') },
  }
}

/** The usual figure of each slot: of its hour, or of now where the answer has days. */
export function usualOf(slots: readonly Slot[], usual: Statistics['usual'], by: Period): Statistics['usual'][] {
  return slots.map((slot) => (by === 'DAY' ? usual : slot.line?.usual ?? null))
}

/** Durations over time, above the band of what is usual. */
export function durations(slots: readonly Slot[], usual: Statistics['usual'], by: Period, words: Words): { option: EChartsCoreOption; table: ChartTable } {
  const band = usualOf(slots, usual, by)
  const p50 = slots.map((s) => s.line?.duration.p50Ms ?? null)
  const p95 = slots.map((s) => s.line?.duration.p95Ms ?? null)
  const known = band.some((u) => u !== null)
  // Two areas on each other: one that nobody sees, and the band on it.
  const area = { stack: 'usual', step: 'middle', symbol: 'none', lineStyle: { opacity: 0 }, silent: true, z: 1, tone: 'off' }
  const hidden = { ...area, tooltip: { show: false } }
  return {
    option: {
      ...base(slots, duration),
      legend: { data: [words.p50, words.p95, ...(known ? [words.usual, words.range] : [])] },
      series: [
        line(words.p50, p50, { z: 3 }), line(words.p95, p95, { z: 3 }),
        ...(known
          ? [
              line(words.usual, band.map((u) => u?.usualMs ?? null), { showSymbol: false, step: 'middle', lineStyle: { type: 'dashed' }, tone: 'off', z: 2 }),
              line('low', band.map((u) => u?.lowMs ?? null), { ...hidden, areaStyle: { opacity: 0 } }),
              line(words.range, band.map((u) => (u ? u.highMs - u.lowMs : null)), { ...hidden, areaStyle: { opacity: 0.16 } }),
            ]
          : []),
      ],
    },
    table: {
      heads: [words.time, words.p50, words.p95, words.usual, words.range],
      rows: slots.map((s, n) => [
        s.label, duration(p50[n]), duration(p95[n]), duration(band[n]?.usualMs), band[n] ? `${duration(band[n]?.lowMs)} – ${duration(band[n]?.highMs)}` : '–',
      ]),
    },
  }
}

/** From how many milliseconds on a start is late, as the statistics count it. */
const LATE_MS = 1_000

/** How late runs started. */
export function latenesses(slots: readonly Slot[], words: Words): { option: EChartsCoreOption; table: ChartTable } {
  const of = (part: 'p50Ms' | 'p95Ms' | 'p99Ms') => slots.map((s) => s.line?.lateness[part] ?? null)
  const [p50, p95, p99] = [of('p50Ms'), of('p95Ms'), of('p99Ms')]
  const worst = Math.max(0, ...p99.map((v) => v ?? 0))
  return {
    option: {
      ...base(slots, duration),
      series: [
        line(words.p50, p50), line(words.p95, p95),
        line(words.p99, p99, {
          // The line of what is late, where it is not far above everything.
          ...(worst > LATE_MS / 3 && {
            markLine: { silent: true, symbol: 'none', label: { formatter: words.late, position: 'insideEndTop' }, lineStyle: { type: 'dashed' }, data: [{ yAxis: LATE_MS }] },
          }),
        }),
      ],
    },
    table: {
      heads: [words.time, words.p50, words.p95, words.p99, words.late],
      rows: slots.map((s, n) => [s.label, duration(p50[n]), duration(p95[n]), duration(p99[n]), number(s.line?.lateRuns ?? 0)]),
    },
  }
}

const kinds = { success: 'good', failed: 'bad', timeout: 'warn', dead: 'dead', cancelled: 'off', skipped: 'wait' } as const

/** How the runs ended, in bars on each other. */
export function outcomes(slots: readonly Slot[], words: Words): { option: EChartsCoreOption; table: ChartTable } {
  const shown = (Object.keys(kinds) as (keyof typeof kinds)[]).filter((kind) => kind === 'success' || slots.some((s) => (s.line?.[kind] ?? 0) > 0))
  return {
    option: {
      ...base(slots, number),
      series: shown.map((kind) => ({ name: words.outcomes[kind], type: 'bar', stack: 'runs', tone: kinds[kind], barMaxWidth: 24, data: slots.map((s) => s.line?.[kind] ?? 0) })),
    },
    table: {
      heads: [words.time, ...shown.map((kind) => words.outcomes[kind])],
      rows: slots.map((s) => [s.label, ...shown.map((kind) => number(s.line?.[kind] ?? 0))]),
    },
  }
}
