import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data, onceKey, tagged } from '@/shared/api/client'
import { asProblem } from '@/shared/api/problem'
import type { Model } from '@/shared/api/types'
import { useLive } from '@/shared/live'
import { can } from '@/shared/session/session'
import { changed, each, type Change } from './model/edit'

export { onceKey }
export type Job = Model<'Job'>
export type Fire = Model<'Fire'>
export type Explanation = Model<'Explanation'>
export type Bulk = Model<'Bulk'>
type BulkItem = Model<'BulkItem'>

/** The keys of what is cached: everything of the feature begins alike. */
export const keys = {
  all: ['jobs'] as const,
  list: () => [...keys.all, 'list'] as const,
  latest: () => [...keys.all, 'latest'] as const,
  one: (id: string) => [...keys.all, 'one', id] as const,
  of: (id: string, part: string) => [...keys.all, 'one', id, part] as const,
  /** Data that the runs of the job do not change: a run does not ask for it anew. */
  aside: (id: string, part: string) => [...keys.all, 'aside', id, part] as const,
}

interface Filters {
  name: string
  group: string
  status: string
  jobType: string
}

const PAGE = 50

/** A page of the jobs that match. */
export function useJobs(filters: Filters, cursor: MaybeRefOrGetter<string>) {
  useLive(['jobs'], [keys.list()])
  return useQuery({
    queryKey: computed(() => [...keys.list(), { ...filters, cursor: toValue(cursor) }]),
    queryFn: ({ signal }) => data(client.GET('/api/v1/jobs', {
      params: {
        query: {
          limit: PAGE,
          ...(filters.name.trim() && { name: filters.name.trim() }),
          ...(filters.group && { group: filters.group }),
          ...(filters.status && { status: filters.status as Job['status'] }),
          ...(filters.jobType && { jobType: filters.jobType as Job['jobType'] }),
          ...(toValue(cursor) && { cursor: toValue(cursor) }),
        },
      },
      signal,
    })),
    placeholderData: keepPreviousData,
  })
}

/** The latest outcome of each job that ended a run among the newest runs of all. */
export function useLatestOutcomes() {
  return useQuery({
    queryKey: keys.latest(),
    queryFn: async ({ signal }) => {
      const { items } = await data(client.GET('/api/v1/executions', { params: { query: { limit: 200 } }, signal }))
      const latest = new Map<string, Model<'Execution'>>()
      for (const run of items) if (!latest.has(run.jobId) && run.endTime !== null) latest.set(run.jobId, run)
      return latest
    },
    enabled: can('execution:read'),
    refetchInterval: 15_000,
  })
}

/** One job; it follows the changes of the job and of its runs. */
export function useJob(id: MaybeRefOrGetter<string>) {
  const key = computed(() => keys.one(toValue(id)))
  useLive(() => [`job:${toValue(id)}` as const], () => [key.value])
  return useQuery({
    queryKey: computed(() => keys.of(toValue(id), 'job')),
    queryFn: ({ signal }) => data(client.GET('/api/v1/jobs/{id}', { params: { path: { id: toValue(id) } }, signal })),
  })
}

const LEDGER_PAGES = 5

/** The planned fires of a range; `more` where there are too many to show. */
export function useFires(id: MaybeRefOrGetter<string>, range: MaybeRefOrGetter<{ from: string; to: string }>) {
  return useQuery({
    queryKey: computed(() => [...keys.of(toValue(id), 'fires'), toValue(range)]),
    queryFn: async ({ signal }) => {
      const items: Fire[] = []
      let cursor: string | null = ''
      for (let page = 0; page < LEDGER_PAGES && cursor !== null; page++) {
        const query = { ...toValue(range), limit: 200, ...(cursor && { cursor }) }
        const got: Model<'FirePage'> = await data(client.GET('/api/v1/jobs/{id}/fires', { params: { path: { id: toValue(id) }, query }, signal }))
        items.push(...got.items)
        cursor = got.nextCursor
      }
      items.sort((a, b) => a.scheduledTime.localeCompare(b.scheduledTime))
      return { items, more: cursor !== null }
    },
    placeholderData: keepPreviousData,
  })
}

/** Why the job did, or did not, fire at a moment, or at a time of the clock in a zone; without one, at its latest fire. */
export function useWhy(id: MaybeRefOrGetter<string>, at: MaybeRefOrGetter<string>, zone: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => [...keys.of(toValue(id), 'why'), toValue(at), toValue(zone)]),
    queryFn: ({ signal }) => data(client.GET('/api/v1/jobs/{id}/why', {
      params: { path: { id: toValue(id) }, query: { timeZone: toValue(zone), ...(toValue(at) && { at: toValue(at) }) } }, signal,
    })),
    placeholderData: keepPreviousData,
  })
}

/** Makes a mutation after which everything of the jobs is asked for again. */
export function useChange<In, Out>(act: (input: In) => Promise<Out>) {
  const queries = useQueryClient()
  return useMutation({ mutationFn: act, onSettled: () => queries.invalidateQueries({ queryKey: keys.all }) })
}

export interface Pause { reason: string; until: string }

const pauseBody = ({ reason, until }: Pause) => ({ ...(reason && { reason }), ...(until && { until }) })
export const path = (id: string) => ({ path: { id } })

export function usePause() {
  return useChange(({ id, pause }: { id: string; pause: Pause }) =>
    data(client.POST('/api/v1/jobs/{id}/pause', { params: path(id), body: pauseBody(pause) })))
}

export function useResume() {
  return useChange((id: string) => data(client.POST('/api/v1/jobs/{id}/resume', { params: path(id) })))
}

/** The inputs of a run by hand. */
export interface Run {
  params: Record<string, unknown>
  scheduledTime?: string
  delaySec?: number
}

/** Triggers a job; the key is that of the click, so that a repetition makes no second run. */
export function useTrigger() {
  return useChange(({ id, run, key }: { id: string; run: Run; key: string }) =>
    data(client.POST('/api/v1/jobs/{id}/trigger', { params: { ...path(id), header: { 'Idempotency-Key': key } }, body: run })))
}

/** Deletes the job that was shown; one that was changed meanwhile is refused. */
export function useDelete() {
  return useChange(async (id: string) => {
    const { etag } = await tagged(client.GET('/api/v1/jobs/{id}', { params: path(id) }))
    return data(client.DELETE('/api/v1/jobs/{id}', { params: { ...path(id), header: { 'If-Match': etag } } }))
  })
}

/** Brings a deleted job back, while the server keeps it. */
export function useUndelete() {
  return useChange((id: string) => data(client.POST('/api/v1/jobs/{id}/undelete', { params: path(id) })))
}

export function useCopy() {
  return useChange(({ id, name }: { id: string; name: string }) =>
    data(client.POST('/api/v1/jobs/{id}/copy', { params: { ...path(id), header: { 'Idempotency-Key': onceKey() } }, body: { ...(name && { name }) } })))
}

export type BulkAction = 'pause' | 'resume' | 'trigger' | 'delete'

/** How many jobs are edited at the same time. */
const EDITS = 4

/** Edits jobs one by one, each as it is now. One that somebody changes meanwhile is refused, and says so. */
export function useEditMany() {
  const edit = async (id: string, change: Change): Promise<BulkItem> => {
    const { body, etag } = await tagged(client.GET('/api/v1/jobs/{id}', { params: path(id) }))
    const next = changed(body, change)
    if (next !== body) {
      await data(client.PUT('/api/v1/jobs/{id}', { params: { ...path(id), header: { 'If-Match': etag } }, body: next as unknown as Model<'JobChangeBody'> }))
    }
    return { id, ok: true }
  }
  const refused = (id: string, failure: unknown): BulkItem => {
    const { code, detail, fields } = asProblem(failure)
    return { id, ok: false, code, message: fields.map((f) => `${f.field}: ${f.message}`).join(' ') || detail }
  }
  return useChange(async ({ ids, change }: { ids: string[]; change: Change }): Promise<Bulk> => {
    const items = await each(ids, EDITS, (id) => edit(id, change), refused)
    const succeeded = items.filter((item) => item.ok).length
    return { items, succeeded, failed: items.length - succeeded, more: false }
  })
}

export function useBulk() {
  return useChange(({ action, ids, pause, params }: { action: BulkAction; ids: string[]; pause?: Pause; params?: Record<string, unknown> }) => {
    switch (action) {
      case 'pause':
        return data(client.POST('/api/v1/bulk/jobs/pause', { body: { ids, ...pauseBody(pause ?? { reason: '', until: '' }) } }))
      case 'resume':
        return data(client.POST('/api/v1/bulk/jobs/resume', { body: { ids } }))
      case 'trigger':
        return data(client.POST('/api/v1/bulk/jobs/trigger', { params: { header: { 'Idempotency-Key': onceKey() } }, body: { ids, params: params ?? {} } }))
      case 'delete':
        return data(client.POST('/api/v1/bulk/jobs/delete', { body: { ids } }))
    }
  })
}
