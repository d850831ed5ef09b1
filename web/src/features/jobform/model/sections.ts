// In which section of the form a field of the API stands.
import type { FieldProblem } from '@/shared/api/problem'

export const sections = ['what', 'runs', 'when', 'behaves', 'told'] as const
export type Section = (typeof sections)[number]

/** The fields of each section, with all below them. `schedule` is in two: its longest name decides. */
const fields: Record<Section, readonly string[]> = {
  what: ['name', 'group', 'description', 'owner', 'labels', 'enabled'],
  runs: ['jobType', 'jobClass', 'jobData', 'parameters'],
  when: ['schedule'],
  behaves: ['retryPolicy', 'overlapPolicy', 'maxConcurrency', 'maxQueued', 'schedule.misfirePolicy', 'schedule.misfireThresholdSec',
    'schedule.misfireWindowSec', 'schedule.misfireMaxFires', 'onNodeLoss', 'timeoutSec', 'startDeadlineSec', 'priority', 'shardCount',
    'broadcast', 'routing'],
  told: ['alerts', 'next', 'deadline'],
}
const sectionByField = new Map(sections.flatMap((section) => fields[section].map((name) => [name, section] as const)))

/** The section in which a field stands; undefined for a field that the form does not know. */
export function sectionOf(field: string): Section | undefined {
  const path = field.split(/[.[]/)
  return sectionByField.get(path.slice(0, 2).join('.')) ?? sectionByField.get(path[0] ?? '')
}

/** How many problems each section has. */
export function problemsBySection(problems: readonly FieldProblem[]): Record<Section, number> {
  const out: Record<Section, number> = { what: 0, runs: 0, when: 0, behaves: 0, told: 0 }
  for (const { field } of problems) out[sectionOf(pathOf(field)) ?? 'what']++
  return out
}

/** The path of a field within one job; a document names it with its place, as jobs[0].name. */
export function pathOf(field: string): string {
  return field.replace(/^jobs\[\d+\]\./, '')
}
