import { hasText, t } from '@/shared/text'
import type { Entry } from './queries'

/** The routes that are about one job, by the words for them. */
const words: Record<string, string> = {
  'POST /api/v1/jobs': 'create',
  'PUT /api/v1/jobs/:id': 'edit',
  'DELETE /api/v1/jobs/:id': 'delete',
  'POST /api/v1/jobs/:id/undelete': 'undelete',
  'POST /api/v1/jobs/:id/pause': 'pause',
  'POST /api/v1/jobs/:id/resume': 'resume',
  'POST /api/v1/jobs/:id/trigger': 'trigger',
  'POST /api/v1/jobs/:id/copy': 'copy',
  'POST /api/v1/jobs/:id/versions/:version/restore': 'restore',
  'POST /api/v1/jobs/:id/backfill': 'backfill',
  'POST /api/v1/jobs/:id/backfills/:backfillId/cancel': 'cancelBackfill',
  'POST /api/v1/jobs/:id/move': 'move',
}

/** The action, in the reader's words; the route itself where there are none. */
export function actionOf({ action }: Pick<Entry, 'action'>): string {
  const key = `jobs.audit.actions.${words[action] ?? ''}`
  return words[action] && hasText(key) ? t(key) : action
}

/** Whether it was done: the call was answered well, and for the first time. */
export function wasDone({ status, code }: Pick<Entry, 'status' | 'code'>): boolean {
  return status < 400 && code === ''
}

/** The answer, where nothing was done: the code of the problem, or the status. */
export function resultOf(entry: Pick<Entry, 'status' | 'code'>): string {
  if (wasDone(entry)) return t('jobs.audit.done')
  if (entry.code === 'replayed') return t('jobs.audit.replayed')
  return t('jobs.audit.refused', { code: entry.code || String(entry.status) })
}

/** The changes as a list of fields: before and after. Any other text is shown as it is. */
export function changesOf({ changes }: Pick<Entry, 'changes'>): Record<string, unknown[]> {
  const all = Object.entries((changes ?? {}) as Record<string, unknown>)
  return Object.fromEntries(all.map(([field, value]) => [field, Array.isArray(value) && value.length === 2 ? value : [null, value]]))
}
