import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data, onceKey } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import { useLive } from '@/shared/live'
import { follow, type Following, type LogEvents } from './model/follow'

export type Execution = Model<'Execution'>
export type ExecutionDetail = Model<'ExecutionDetail'>
export type Attempt = Model<'Attempt'>
export type Bulk = Model<'Bulk'>

/** Which failed runs a plan counts. */
export type RetryFilter = Model<'RetryFilterBody'>

/** The filters of a list of executions; empty is all. */
export interface Filters {
  status: Model<'Status'> | ''
  trigger: Model<'Trigger'> | ''
  jobId: string
  nodeId: string
  from: string
  to: string
}

/** Most siblings of a fire that the shard map shows. */
const MOST_SHARDS = 200
/** Lines of each log that a comparison looks at. */
const COMPARED_LINES = 400

const keys = {
  all: ['executions'] as const,
  lists: () => [...keys.all, 'list'] as const,
  list: (filters: Filters, cursor: string) => [...keys.lists(), filters, cursor] as const,
  one: (id: string) => [...keys.all, 'one', id] as const,
}

function asked(filters: Filters) {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== '')) as Partial<{
    [Name in keyof Filters]: Exclude<Filters[Name], ''>
  }>
}

/** What the page of a run must know of its job: the worker group that it names, and whether it is a workflow. */
export function useJobOf(jobId: MaybeRefOrGetter<string | undefined>) {
  return useQuery({
    queryKey: computed(() => [...keys.all, 'job', toValue(jobId)]),
    queryFn: async ({ signal }) => {
      const job = await data(client.GET('/api/v1/jobs/{id}', { params: { path: { id: toValue(jobId) ?? '' } }, signal }))
      return { workers: job.routing.workers ?? '', workflow: job.jobType === 'WORKFLOW' }
    },
    enabled: computed(() => toValue(jobId) !== undefined),
    staleTime: 60_000,
  })
}

/** A page of executions, newest first. */
export function useExecutions(filters: () => Filters, cursor: MaybeRefOrGetter<string>) {
  useLive(['executions'], [keys.lists()])
  return useQuery({
    queryKey: computed(() => keys.list({ ...filters() }, toValue(cursor))),
    queryFn: ({ signal }) => data(client.GET('/api/v1/executions', {
      params: { query: { ...asked(filters()), limit: 50, ...(toValue(cursor) ? { cursor: toValue(cursor) } : {}) } }, signal,
    })),
    placeholderData: keepPreviousData,
  })
}

/** One execution. */
export function useExecution(id: MaybeRefOrGetter<string>) {
  const key = computed(() => keys.one(toValue(id)))
  useLive(() => [`execution:${toValue(id)}`, 'executions'], () => [key.value])
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => data(client.GET('/api/v1/executions/{id}', { params: { path: { id: toValue(id) } }, signal })),
  })
}

/** The attempts of an execution, the latest last; asked for again with it. */
export function useAttempts(id: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => [...keys.one(toValue(id)), 'attempts']),
    queryFn: ({ signal }) => data(client.GET('/api/v1/executions/{id}/attempts', { params: { path: { id: toValue(id) } }, signal })),
  })
}

/** The executions of the same fire: the shards of a job. */
export function useShards(run: () => Execution) {
  return useQuery({
    queryKey: computed(() => [...keys.one(run().id), 'shards']),
    enabled: computed(() => run().shardTotal > 1),
    queryFn: async ({ signal }) => {
      const { jobId, scheduledTime, shardTotal } = run()
      const to = new Date(new Date(scheduledTime).getTime() + 1).toISOString()
      const page = await data(client.GET('/api/v1/executions', {
        params: { query: { jobId, from: scheduledTime, to, limit: MOST_SHARDS } }, signal,
      }))
      return page.items
        .filter((one) => one.scheduledTime === scheduledTime && one.shardTotal === shardTotal)
        .sort((a, b) => a.shardIndex - b.shardIndex)
    },
  })
}

/** The last good run of the job before this one, with its parameters; asked for when `wanted`. */
export function useLastSuccess(id: MaybeRefOrGetter<string>, wanted: MaybeRefOrGetter<boolean>) {
  return useQuery({
    queryKey: computed(() => [...keys.one(toValue(id)), 'last-success']),
    enabled: computed(() => toValue(wanted)),
    queryFn: async ({ signal }) => {
      const found = await data(client.GET('/api/v1/executions/{id}/last-success', { params: { path: { id: toValue(id) } }, signal }))
      if (!found.execution) return { complete: found.complete, execution: null, logs: null }
      const [execution, before, after] = await Promise.all([
        data(client.GET('/api/v1/executions/{id}', { params: { path: { id: found.execution.id } }, signal })),
        logHead(found.execution.id, signal),
        logHead(toValue(id), signal),
      ])
      return { complete: found.complete, execution, logs: { before, after } }
    },
  })
}

async function logHead(id: string, signal: AbortSignal): Promise<{ lines: string[]; more: boolean }> {
  const page = await data(client.GET('/api/v1/executions/{id}/logs', { params: { path: { id }, query: { limit: COMPARED_LINES } }, signal }))
  return { lines: page.items.map((line) => line.line), more: page.nextCursor !== null }
}

/** Follows the log of an execution by the server's stream; close what it returns. */
export function followLog(id: string, events: LogEvents): Following {
  return follow((cursor) => {
    const from = cursor === '' ? '' : `?cursor=${encodeURIComponent(cursor)}`
    return new EventSource(`/api/v1/executions/${encodeURIComponent(id)}/logs/stream${from}`)
  }, events)
}

/** Asks for an execution to be cancelled. */
export function useCancel() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => data(client.POST('/api/v1/executions/{id}/cancel', { params: { path: { id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.all }),
  })
}

/** Runs an execution again as a new one; one key a question, kept over its repetitions. */
export function useRetry() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, once }: { id: string; once: string }) => data(client.POST('/api/v1/executions/{id}/retry', {
      params: { path: { id }, header: { 'Idempotency-Key': once } },
    })),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.all }),
  })
}

/** Cancels or retries many; the answer has a result for each. */
export function useBulk() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ verb, ids, once }: { verb: 'cancel' | 'retry'; ids: string[]; once: string }) => data(verb === 'cancel'
      ? client.POST('/api/v1/bulk/executions/cancel', { body: { ids } })
      : client.POST('/api/v1/bulk/executions/retry', { body: { ids }, params: { header: { 'Idempotency-Key': once } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.all }),
  })
}

/** Counts the failed runs that a filter chooses; nothing runs. */
export function useRetryPlan(filter: MaybeRefOrGetter<RetryFilter>, asked: MaybeRefOrGetter<boolean>) {
  return useQuery({
    queryKey: computed(() => [...keys.all, 'retry-plan', toValue(filter)]),
    queryFn: ({ signal }) => data(client.POST('/api/v1/bulk/executions/retry', { body: { filter: toValue(filter), dryRun: true }, signal })),
    enabled: computed(() => toValue(asked)),
    placeholderData: keepPreviousData,
    gcTime: 0,
    staleTime: 0,
  })
}

/** Runs what a plan counted; each call starts a part of it. */
export function useRetryPlanned() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ planId, once }: { planId: string; once: string }): Promise<Bulk> => {
      const all: Bulk = { items: [], succeeded: 0, failed: 0, more: false }
      for (let part = 0, next: string | undefined = planId; next; part++) {
        const answer: Model<'BulkRetry'> = await data(client.POST('/api/v1/bulk/executions/retry', {
          body: { planId: next }, params: { header: { 'Idempotency-Key': `${once}-${part}` } },
        }))
        all.items.push(...answer.items)
        all.succeeded += answer.succeeded
        all.failed += answer.failed
        next = answer.planId
      }
      return all
    },
    onSettled: () => queries.invalidateQueries({ queryKey: keys.all }),
  })
}

export { onceKey }
