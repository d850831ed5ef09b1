import type { EChartsCoreOption } from 'echarts/core'
import { duration, number, percent } from '@/shared/text/format'
import { t } from '@/shared/text'
import { absolute } from '@/shared/time/format'
import type { ChartTable } from '@/shared/ui/Chart.vue'
import type { Line, Statistics } from '../queries'
import { startsOf, type By } from './range'

/** An hour or a day; without a line where nothing ended in it. */
interface Slot {
  label: string
  line: Line | undefined
}

interface Drawn {
  name: string
  option: EChartsCoreOption
  table: ChartTable
  /** Whether nothing of it was measured. */
  none?: boolean
}

/** How runs end, each with the token of its colour. */
const outcomes = { success: 'good', failed: 'bad', timeout: 'warn', dead: 'dead', cancelled: 'off', skipped: 'wait' } as const
type Outcome = keyof typeof outcomes
const kinds = Object.keys(outcomes) as Outcome[]

/** All hours or days of an answer, also those in which nothing ended. */
export function slotsOf({ items, from, to }: Pick<Statistics, 'items' | 'from' | 'to'>, by: By, zone: string): Slot[] {
  // A day that is stored whole may begin at another moment: the day in the zone tells them apart.
  const key = (moment: number | string) => (by === 'DAY' ? absolute(moment, zone, 'day') : String(new Date(moment).getTime()))
  const lines = new Map(items.map((line) => [key(line.start), line]))
  return startsOf(from, to, by, zone).map((start) => {
    const text = absolute(start, zone, 'minute')
    return { label: by === 'DAY' ? text.slice(0, 10) : text.slice(5, 16), line: lines.get(key(start)) }
  })
}

function base(slots: readonly Slot[], format: (value: number) => string) {
  return {
    legend: {},
    grid: { left: 8, right: 16, top: 36, bottom: 8, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
    xAxis: { type: 'category', data: slots.map((s) => s.label) },
    tooltip: { valueFormatter: (value: unknown) => (typeof value === 'number' ? format(value) : '–') },
  }
}

const curve = (name: string, values: (number | null)[], more: object = {}) =>
  ({ name, type: 'line', data: values, showSymbol: values.filter((v) => v !== null).length < 40, symbolSize: 5, ...more })

function runs(slots: readonly Slot[], time: string): Drawn {
  const shown = kinds.filter((kind) => kind === 'success' || slots.some((s) => (s.line?.[kind] ?? 0) > 0))
  const word = (kind: Outcome) => t(`shared.status.${kind.toUpperCase()}`)
  return {
    name: 'runs',
    option: {
      ...base(slots, number),
      yAxis: { type: 'value', min: 0, minInterval: 1, axisLabel: { formatter: (v: number) => number(v) } },
      series: shown.map((kind) => (
        { name: word(kind), type: 'bar', stack: 'runs', tone: outcomes[kind], barMaxWidth: 24, data: slots.map((s) => s.line?.[kind] ?? 0) })),
    },
    table: {
      heads: [time, ...shown.map(word)],
      rows: slots.map((s) => [s.label, ...shown.map((kind) => number(s.line?.[kind] ?? 0))]),
    },
  }
}

function rate(slots: readonly Slot[], time: string): Drawn {
  const values = slots.map((s) => s.line?.successRate ?? null)
  const say = (value: number) => percent(value, 1)
  const name = t('statistics.successRate')
  return {
    name: 'successRate',
    none: values.every((value) => value === null),
    option: {
      ...base(slots, say),
      legend: undefined,
      grid: { left: 8, right: 16, top: 16, bottom: 8, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
      yAxis: { type: 'value', min: 0, max: 1, axisLabel: { formatter: (v: number) => percent(v) } },
      series: [curve(name, values, { tone: 'good', areaStyle: { opacity: 0.08 } })],
    },
    table: { heads: [time, name], rows: slots.map((s, n) => [s.label, percent(values[n], 2)]) },
  }
}

function quantiles(name: 'duration' | 'lateness', slots: readonly Slot[], time: string): Drawn {
  const parts = ['p50Ms', 'p95Ms', 'p99Ms'] as const
  const late = name === 'lateness'
  return {
    name,
    none: !slots.some((s) => (s.line?.[name].count ?? 0) > 0),
    option: {
      ...base(slots, duration),
      yAxis: { type: 'value', min: 0, minInterval: 1, axisLabel: { formatter: (v: number) => duration(v) } },
      series: parts.map((part) => curve(t(`statistics.${part}`), slots.map((s) => s.line?.[name][part] ?? null))),
    },
    table: {
      heads: [time, ...parts.map((part) => t(`statistics.${part}`)), ...(late ? [t('statistics.lateRuns')] : [])],
      rows: slots.map((s) => [
        s.label, ...parts.map((part) => duration(s.line?.[name][part])), ...(late ? [number(s.line?.lateRuns ?? 0)] : []),
      ]),
    },
  }
}

/** The charts of statistics; `time` is the head of their times, with the zone. */
export function draw(slots: readonly Slot[], time: string): Drawn[] {
  return [runs(slots, time), rate(slots, time), quantiles('duration', slots, time), quantiles('lateness', slots, time)]
}
