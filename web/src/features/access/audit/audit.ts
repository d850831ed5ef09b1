import { hasText, t } from '@/shared/text'
import type { AuditEntry } from './queries'

/** The filters that stand in the address of the list. */
export const noFilters = { userId: '', action: '', object: '', objectName: '', from: '', to: '' }
export type Filters = typeof noFilters

export interface AuditQuery extends Partial<Filters> {
  cursor?: string
  limit: number
}

const PAGE = 50

/** The query of filters and a place; what is empty is left out. */
export function queryOf(filters: Filters, cursor: string): AuditQuery {
  const query: AuditQuery = { limit: PAGE }
  for (const name of Object.keys(noFilters) as (keyof Filters)[]) {
    const value = filters[name].trim()
    if (value !== '') query[name] = value
  }
  return cursor ? { ...query, cursor } : query
}

/** Where the whole log of these filters is sent as a file. */
export function exportAddress(filters: Filters): string {
  const given = Object.entries(filters).filter(([, value]) => value.trim() !== '')
  return `/api/v1/audit-logs/export?${new URLSearchParams([...given, ['format', 'csv']]).toString()}`
}

/** A call by its parts: DELETE /api/v1/jobs/{id} is delete of jobs. */
interface Call {
  method: string
  /** The subject of the call, such as jobs, or alert-rules. */
  thing: string
  /** The action on it: the last word of the address, or else the method. */
  verb: string
}

const verbs: Record<string, string> = { POST: 'create', PUT: 'change', DELETE: 'delete', GET: 'read' }
const isParameter = (part: string) => /^[:{]/.test(part)

export function callOf(action: string): Call | undefined {
  const [method = '', path = ''] = action.split(' ')
  if (!path.startsWith('/api/v1/')) return undefined
  const parts = path.slice('/api/v1/'.length).split('/')
  const bulk = parts[0] === 'bulk'
  const thing = (bulk ? parts[1] : parts[0]) ?? ''
  const last = parts.at(-1) ?? ''
  const rest = parts.length > (bulk ? 2 : 1) && !isParameter(last)
  return { method, thing, verb: rest ? last : verbs[method] ?? method }
}

/** The action in words of the reader; for an unknown one the call itself. */
export function wordsOf(action: string): string {
  const call = callOf(action)
  if (!call) return action
  const [verb, thing] = [`access.verb.${call.verb}`, `access.thing.${call.thing}`]
  return hasText(verb) && hasText(thing) ? t('access.audit.did', { verb: t(verb), thing: t(thing) }) : action
}

const isId = (text: string) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text)
const settingKinds: Record<string, string> = {
  'alert-rules': 'rules', 'alert-channels': 'channels', 'alert-silences': 'silences', 'alert-routes': 'routes',
  'alert-templates': 'templates', teams: 'teams', contacts: 'contacts', 'on-call': 'on-call',
}

/** The page of the object of an entry; what was deleted, and what is not one object, has none. */
export function linkOf(entry: Pick<AuditEntry, 'action' | 'object' | 'status'>): string | undefined {
  const call = callOf(entry.action)
  const { object } = entry
  if (!call || !object || (call.verb === 'delete' && entry.status < 300)) return undefined
  const id = encodeURIComponent(object)
  switch (call.thing) {
    case 'jobs':
      return isId(object) ? `/jobs/${id}` : undefined
    case 'executions':
    case 'dead-letters':
      return isId(object) ? `/executions/${id}` : undefined
    case 'users':
      return isId(object) ? `/users/${id}` : undefined
    case 'auth':
      return call.verb === 'password' ? `/users/${id}` : undefined
    case 'nodes':
      return `/nodes/${id}`
    case 'alerts':
      return `/alerts/${id}`
    case 'groups':
      return `/jobs?group=${id}`
    case 'secrets':
      return `/secrets?edit=${id}`
  }
  const kind = settingKinds[call.thing]
  return kind && isId(object) ? `/alerts/${kind}/${id}` : undefined
}

/** The calls by which the log is filtered most. Every call may be typed. */
export const actions = [
  'POST /api/v1/auth/login', 'POST /api/v1/auth/logout', 'POST /api/v1/auth/password', 'POST /api/v1/users', 'PUT /api/v1/users/{id}',
  'DELETE /api/v1/users/{id}', 'POST /api/v1/tokens', 'DELETE /api/v1/tokens/{id}', 'POST /api/v1/jobs', 'PUT /api/v1/jobs/{id}',
  'DELETE /api/v1/jobs/{id}', 'POST /api/v1/jobs/{id}/undelete', 'POST /api/v1/jobs/{id}/pause', 'POST /api/v1/jobs/{id}/resume', 'POST /api/v1/jobs/{id}/trigger',
  'POST /api/v1/jobs/{id}/copy', 'POST /api/v1/jobs/{id}/versions/{version}/restore', 'POST /api/v1/jobs/{id}/backfill',
  'POST /api/v1/jobs/pause', 'POST /api/v1/jobs/resume', 'POST /api/v1/import', 'POST /api/v1/groups', 'PUT /api/v1/groups/{name}',
  'DELETE /api/v1/groups/{name}', 'POST /api/v1/groups/{name}/pause', 'POST /api/v1/groups/{name}/resume', 'POST /api/v1/executions/{id}/cancel',
  'POST /api/v1/executions/{id}/retry', 'POST /api/v1/dead-letters/{id}/replay', 'POST /api/v1/dead-letters/{id}/discard',
  'POST /api/v1/nodes/{id}/drain', 'POST /api/v1/nodes/{id}/resume', 'POST /api/v1/alerts/{id}/ack', 'POST /api/v1/alerts/{id}/resolve',
  'POST /api/v1/alert-rules', 'PUT /api/v1/alert-rules/{id}', 'DELETE /api/v1/alert-rules/{id}', 'POST /api/v1/alert-channels',
  'PUT /api/v1/alert-channels/{id}', 'DELETE /api/v1/alert-channels/{id}', 'POST /api/v1/alert-silences', 'PUT /api/v1/alert-silences/{id}',
  'DELETE /api/v1/alert-silences/{id}', 'POST /api/v1/secrets', 'PUT /api/v1/secrets/{name}', 'DELETE /api/v1/secrets/{name}',
  'GET /api/v1/export', 'GET /api/v1/audit-logs/export',
] as const

/** The changes of an entry as rows; what is no pair is shown as what came after. */
export function changesOf(entry: Pick<AuditEntry, 'changes'>): { field: string; before: unknown; after: unknown }[] {
  return Object.entries((entry.changes ?? {}) as Record<string, unknown>)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([field, pair]) => (Array.isArray(pair) && pair.length === 2
      ? { field, before: pair[0] as unknown, after: pair[1] as unknown }
      : { field, before: undefined, after: pair }))
}
