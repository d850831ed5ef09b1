// A trial of the draft: what is sent, who may, and how its result is shown.
import type { Model, Permission } from '@/shared/api/types'
import type { Body } from './body'
import type { JobForm } from './job'

/** The parameters that a draft declares, with all their fields. */
export function declaredOf(draft: Body): Model<'JobParameter'>[] {
  const list = (draft['parameters'] ?? []) as unknown as Partial<Model<'JobParameter'>>[]
  return list.filter((p) => p.name).map((p) => ({ name: '', type: 'STRING', default: null, description: '', required: false, values: [], ...p }))
}

/** The body of a trial: the draft as it would be saved, and the params of this run. A draft needs no name yet. */
export function trialOf(draft: Body, params: Record<string, unknown>): Body {
  return { ...draft, name: draft['name'] || 'trial', ...(Object.keys(params).length > 0 && { params: params as Body }) }
}

/** Which right is missing for a trial; empty where it may be offered. */
export function refusalOf(job: Pick<JobForm, 'group' | 'jobType'>, can: (p: Permission, group?: string) => boolean): '' | 'workflow' | 'write' | 'run' | 'command' {
  if (job.jobType === 'WORKFLOW') return 'workflow'
  const group = job.group.trim() || 'default'
  if (!can('job:write', group)) return 'write'
  if (!can('job:run', group)) return 'run'
  return job.jobType === 'COMMAND' && !can('job:command') ? 'command' : ''
}

/** A result that is JSON with its lines and indents; any other as it is. */
export function pretty(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
