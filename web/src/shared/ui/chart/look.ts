import type { EChartsCoreOption } from 'echarts/core'

/** The value of a token now. */
function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}

type Part = Record<string, unknown>

/** An axis, or each of several, in the colours of the page. */
function axis(given: unknown, lines: boolean): unknown {
  const one = (a: Part): Part => ({
    ...a,
    axisLine: { lineStyle: { color: token('line-strong') }, ...(a['axisLine'] as Part) },
    axisTick: { show: false, ...(a['axisTick'] as Part) },
    axisLabel: { color: token('text-2'), fontSize: 11, hideOverlap: true, ...(a['axisLabel'] as Part) },
    splitLine: { show: lines, lineStyle: { color: token('line') }, ...(a['splitLine'] as Part) },
  })
  if (given === undefined) return undefined
  return Array.isArray(given) ? given.map((a: Part) => one(a)) : one(given as Part)
}

/** A series in the colour of a state, where it names one as its `tone`. */
function toned(series: unknown): unknown {
  const one = ({ tone, ...s }: Part): Part => (typeof tone === 'string' ? { ...s, color: token(tone) } : s)
  return Array.isArray(series) ? series.map((s: Part) => one(s)) : series
}

/** Gives a chart the colours and texts of the page. The chart's own options stay. */
export function withLook(option: EChartsCoreOption): EChartsCoreOption {
  const given = option as Part
  return {
    backgroundColor: 'transparent',
    animation: false,
    color: [1, 2, 3, 4, 5, 6].map((n) => token(`chart-${n}`)),
    textStyle: { fontFamily: token('font'), color: token('text') },
    ...given,
    grid: given['grid'] ?? { left: 8, right: 12, top: 24, bottom: 8, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' },
    legend: given['legend'] === undefined ? undefined : {
      textStyle: { color: token('text-2') }, inactiveColor: token('text-3'), icon: 'roundRect', itemWidth: 12, itemHeight: 8, top: 0, right: 0,
      ...(given['legend'] as Part),
    },
    tooltip: {
      trigger: 'axis', backgroundColor: token('surface'), borderColor: token('line-strong'), padding: [6, 10],
      textStyle: { color: token('text'), fontSize: 12 },
      ...(given['tooltip'] as Part),
      // Drawn on the canvas: names of jobs are never markup, and the policy refuses inline styles.
      renderMode: 'richText',
    },
    series: toned(given['series']),
    xAxis: axis(given['xAxis'], false),
    yAxis: axis(given['yAxis'], true),
  }
}
