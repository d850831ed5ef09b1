// In which section of the form a field of the API stands.
import type { FieldProblem } from '@/shared/api/problem'

export const sections = ['what', 'runs', 'when', 'behaves', 'told'] as const
export type Section = (typeof sections)[number]

const behaves = ['retryPolicy', 'overlapPolicy', 'maxConcurrency', 'maxQueued', 'schedule.misfirePolicy', 'schedule.misfireThresholdSec',
  'schedule.misfireWindowSec', 'schedule.misfireMaxFires', 'onNodeLoss', 'timeoutSec', 'startDeadlineSec', 'priority', 'shardCount', 'broadcast', 'routing']

/** The section in which a field stands. */
export function sectionOf(field: string): Section {
  const under = (names: string[]) => names.some((n) => field === n || field.startsWith(`${n}.`) || field.startsWith(`${n}[`))
  if (under(behaves)) return 'behaves'
  if (under(['schedule'])) return 'when'
  if (under(['jobType', 'jobClass', 'jobData', 'parameters'])) return 'runs'
  if (under(['alerts', 'deadline'])) return 'told'
  return 'what'
}

/** How many problems each section has. */
export function problemsBySection(problems: readonly FieldProblem[]): Record<Section, number> {
  const out: Record<Section, number> = { what: 0, runs: 0, when: 0, behaves: 0, told: 0 }
  for (const { field } of problems) out[sectionOf(pathOf(field))]++
  return out
}

/** The path of a field within one job; a document names it with its place, as jobs[0].name. */
export function pathOf(field: string): string {
  return field.replace(/^jobs\[\d+\]\./, '')
}
