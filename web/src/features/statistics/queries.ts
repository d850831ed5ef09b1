import { keepPreviousData, useQuery } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import { namesOf } from '@/shared/api/names'
import { untilFound } from '@/shared/api/search'
import type { Model, Query } from '@/shared/api/types'
import { can, user } from '@/shared/session/session'

export type Statistics = Model<'Statistics'>
export type Line = Model<'StatisticsLine'>
export type TopJob = Model<'TopJob'>

/** The figures that jobs are compared by. */
export type Order = NonNullable<Query<'/api/v1/monitor/statistics'>['topBy']>
export const orders = namesOf<Order>({ failures: true, late: true, duration: true, runs: true, skipped: true, retries: true })

/** The subject of the figures: all, or one job, group or node, or the workers of a worker group. */
export const subjects = ['all', 'job', 'group', 'node', 'workers'] as const
export type Subject = (typeof subjects)[number]

/** The subjects that need the sight of all groups: what they run belongs to many. */
export const isOfAll = (subject: Subject) => subject === 'node' || subject === 'workers'

export interface Ask {
  subject: Subject
  id: string
  from: string
  to?: string
  timeZone: string
}

/** Sums of many rows stand so long before they are asked for anew, in milliseconds. */
const FRESH_MS = 60_000
const TOP = 10
const FOUND = 20

const keys = {
  lines: (ask: Ask | undefined, by: string) => ['statistics', 'lines', ask, by] as const,
  top: (ask: Ask | undefined, order: string) => ['statistics', 'top', ask, order] as const,
}

function queryOf({ subject, id, from, to, timeZone }: Ask) {
  return { from, timeZone, ...(to !== undefined && { to }), ...(subject !== 'all' && { [subject]: id }) }
}

/** The outcomes of runs, hour by hour or day by day, once the question is known. */
export function useStatistics(ask: MaybeRefOrGetter<Ask | undefined>, by: MaybeRefOrGetter<'HOUR' | 'DAY'>) {
  return useQuery({
    queryKey: computed(() => keys.lines(toValue(ask), toValue(by))),
    queryFn: ({ signal }) => data(client.GET('/api/v1/monitor/statistics', {
      params: { query: { ...queryOf(toValue(ask) as Ask), by: toValue(by) } }, signal,
    })),
    enabled: computed(() => toValue(ask) !== undefined),
    placeholderData: keepPreviousData,
    refetchInterval: FRESH_MS,
    staleTime: FRESH_MS / 2,
  })
}

/** The jobs that stand out. */
export function useTop(ask: MaybeRefOrGetter<Ask | undefined>, order: MaybeRefOrGetter<Order>) {
  return useQuery({
    queryKey: computed(() => keys.top(toValue(ask), toValue(order))),
    queryFn: ({ signal }) => data(client.GET('/api/v1/monitor/statistics', {
      params: { query: { ...queryOf(toValue(ask) as Ask), top: TOP, topBy: toValue(order) } }, signal,
    })),
    enabled: computed(() => toValue(ask) !== undefined),
    placeholderData: keepPreviousData,
    refetchInterval: FRESH_MS,
    staleTime: FRESH_MS / 2,
  })
}

/** The shown figures as CSV: the lines, or the jobs. */
export function exportCsv(ask: Ask, of: { by: 'HOUR' | 'DAY' } | { topBy: Order }): Promise<string> {
  const more = 'by' in of ? of : { ...of, top: TOP }
  const answer = client.GET('/api/v1/monitor/statistics', {
    params: { query: { ...queryOf(ask), ...more, format: 'csv' } }, parseAs: 'text',
  })
  return data(answer)
}

/** A user who sees only some groups gets no figures of a node, nor of workers. */
export const seesNodes = computed(() => can('job:read') && user.value?.groups === null)

/** The ids of the nodes. */
export function useNodeIds() {
  return useQuery({
    queryKey: ['statistics', 'nodes'],
    queryFn: async ({ signal }) => (await data(client.GET('/api/v1/nodes', { signal }))).items.map((n) => n.id),
    enabled: seesNodes,
    staleTime: FRESH_MS,
  })
}

/** The names of the worker groups, which only admins list. Others type one. */
export function useWorkerGroupNames() {
  return useQuery({
    queryKey: ['statistics', 'workers'],
    queryFn: async ({ signal }) => (await data(client.GET('/api/v1/worker-groups', { signal }))).items.map((g) => g.name),
    enabled: computed(() => seesNodes.value && can('worker:admin')),
    staleTime: FRESH_MS,
  })
}

/** Jobs whose name contains a text. */
export function useFoundJobs(name: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => ['statistics', 'jobs', toValue(name)]),
    queryFn: async ({ signal }) => {
      const query = { limit: FOUND, ...(toValue(name) && { name: toValue(name) }) }
      const found = await untilFound((cursor) => data(client.GET('/api/v1/jobs', { params: { query: { ...query, ...(cursor && { cursor }) } }, signal })))
      return found.items.map((j) => ({ id: j.id, name: j.name, group: j.group }))
    },
    placeholderData: keepPreviousData,
    staleTime: FRESH_MS,
  })
}

/** The name of the job that is chosen. */
export function useJobName(id: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => ['statistics', 'job', toValue(id)]),
    queryFn: async ({ signal }) => (await data(client.GET('/api/v1/jobs/{id}', { params: { path: { id: toValue(id) } }, signal }))).name,
    enabled: computed(() => toValue(id) !== ''),
    staleTime: FRESH_MS,
  })
}
