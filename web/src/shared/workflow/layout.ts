// Places the steps of a workflow in layers from left to right: a step stands behind all that it needs. An edge over
// several layers gets a place of its own in each of them, so that it runs around the steps there.
import { wordsOf, type GraphStep } from './step'

export const WIDTH = 176
export const HEIGHT = 48
const COLUMN = 104
const ROW = 20
const LANE = 18
const MARGIN = 12
/** Edges of a huge graph run straight: their places would cost more than they show. */
const MOST_LANES = 3_000
const SWEEPS = 6

interface Spot {
  /** Undefined for the place of an edge in a layer that it passes. */
  step?: GraphStep
  layer: number
  before: Spot[]
  after: Spot[]
  rank: number
  y: number
}

export interface Layout {
  width: number
  height: number
  nodes: { step: GraphStep; x: number; y: number }[]
  edges: { from: string; to: string; path: string; words: readonly string[]; x: number; y: number }[]
}

/** The layer of each step: one more than the deepest that it needs. A circle, which no definition may have, is cut. */
function layersOf(steps: readonly GraphStep[]): Map<string, number> {
  const byName = new Map(steps.map((s) => [s.name, s]))
  const layers = new Map<string, number>()
  const open = new Set<string>()
  const visit = (step: GraphStep): number => {
    const known = layers.get(step.name)
    if (known !== undefined) return known
    if (open.has(step.name)) return -1
    open.add(step.name)
    const layer = Math.max(-1, ...step.needs.map((n) => byName.get(n.step)).filter((s) => s !== undefined).map(visit)) + 1
    open.delete(step.name)
    layers.set(step.name, layer)
    return layer
  }
  steps.forEach(visit)
  const last = Math.max(-1, ...steps.filter((s) => !s.finally).map((s) => layers.get(s.name) ?? 0))
  for (const step of steps) if (step.finally) layers.set(step.name, last + 1)
  return layers
}

/** The places of steps and edges. Needs that name no step are left out. */
export function layout(steps: readonly GraphStep[]): Layout {
  const layers = layersOf(steps)
  const columns: Spot[][] = []
  const put = (layer: number, step?: GraphStep): Spot => {
    const spot: Spot = { step, layer, before: [], after: [], rank: 0, y: 0 }
    while (columns.length <= layer) columns.push([])
    spot.rank = columns[layer]?.push(spot) ?? 0
    return spot
  }
  const spots = new Map(steps.map((s) => [s.name, put(layers.get(s.name) ?? 0, s)]))
  const join = (from: Spot, to: Spot) => {
    from.after.push(to)
    to.before.push(from)
  }
  const found = steps.flatMap((step) => step.needs.flatMap((need) => {
    const from = spots.get(need.step)
    const to = spots.get(step.name)
    return from && to && from.layer < to.layer ? [{ from, to, need }] : []
  }))
  const straight = found.reduce((sum, { from, to }) => sum + to.layer - from.layer - 1, 0) > MOST_LANES
  const routes = found.map(({ from, to, need }) => {
    const lanes = straight ? [] : Array.from({ length: to.layer - from.layer - 1 }, (_, i) => put(from.layer + 1 + i))
    const route = [from, ...lanes, to]
    route.slice(1).forEach((spot, i) => join(route[i] ?? from, spot))
    return { route, need, to }
  })

  order(columns)
  const height = stack(columns)
  const xOf = (layer: number) => MARGIN + layer * (WIDTH + COLUMN)
  return {
    // A text that cannot be read yet has no steps.
    width: columns.length === 0 ? 2 * MARGIN : xOf(columns.length) - COLUMN + MARGIN,
    height,
    nodes: steps.flatMap((step) => {
      const spot = spots.get(step.name)
      return spot ? [{ step, x: xOf(spot.layer), y: spot.y - HEIGHT / 2 }] : []
    }),
    edges: routes.map(({ route, need, to }) => ({
      from: need.step, to: to.step?.name ?? '', words: wordsOf(need), path: pathOf(route, xOf),
      x: xOf(to.layer) - 14, y: to.y - 7,
    })),
  }
}

/** Puts each column into the order of what it is joined to, forth and back, so that fewer edges cross. */
function order(columns: Spot[][]): void {
  const middle = (spot: Spot, of: readonly Spot[]) => (of.length === 0 ? spot.rank : of.reduce((sum, s) => sum + s.rank, 0) / of.length)
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forth = sweep % 2 === 0
    for (const column of forth ? columns : [...columns].reverse()) {
      const wanted = new Map(column.map((spot) => [spot, middle(spot, forth ? spot.before : spot.after)]))
      column.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0))
      column.forEach((spot, i) => (spot.rank = i))
    }
  }
}

/** Stacks each column and centres it; returns the height of all. */
function stack(columns: Spot[][]): number {
  const sizeOf = (spot: Spot) => (spot.step ? HEIGHT + ROW : LANE)
  const heights = columns.map((column) => column.reduce((sum, spot) => sum + sizeOf(spot), 0))
  const height = Math.max(HEIGHT + ROW, ...heights)
  columns.forEach((column, i) => {
    let y = MARGIN + (height - (heights[i] ?? 0)) / 2
    for (const spot of column) {
      spot.y = y + sizeOf(spot) / 2
      y += sizeOf(spot)
    }
  })
  return height + 2 * MARGIN
}

function pathOf(route: readonly Spot[], xOf: (layer: number) => number): string {
  const first = route[0]
  if (!first) return ''
  let [x, y] = [xOf(first.layer) + WIDTH, first.y]
  let path = `M${x} ${y}`
  for (const spot of route.slice(1)) {
    const to = xOf(spot.layer)
    path += ` C${x + COLUMN / 2} ${y} ${to - COLUMN / 2} ${spot.y} ${to} ${spot.y}`
    ;[x, y] = [to, spot.y]
    if (!spot.step) {
      x += WIDTH
      path += ` H${x}`
    }
  }
  return path
}
