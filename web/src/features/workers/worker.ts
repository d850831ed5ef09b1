import { can } from '@/shared/session/session'
import type { Worker } from './queries'

/** The state as people see it: one that has not called for over two beats is suspect. */
export function stateOf(w: Pick<Worker, 'status' | 'suspect'>): Worker['status'] | 'SUSPECT' {
  return w.suspect && w.status === 'UP' ? 'SUSPECT' : w.status
}

/** Whether the user may drain it: in all groups whose jobs it may run. */
export function maySteer(w: Pick<Worker, 'jobGroups'>): boolean {
  return can('worker:write') && w.jobGroups.every((group) => can('worker:write', group))
}

/** Labels as people write them. */
export function labelsOf(labels: Record<string, string>): string {
  return Object.entries(labels).map(([name, value]) => `${name}=${value}`).join(', ')
}
