import { useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import { useLive } from '@/shared/live'
import { can } from '@/shared/session/session'

export type Worker = Model<'Worker'>
export type WorkerGroup = Model<'WorkerGroup'>
export type WorkerToken = Model<'WorkerToken'>

/** The keys of what is cached: everything of the feature begins alike. */
const keys = {
  all: ['workers'] as const,
  list: (filters: Filters, cursor: string) => [...keys.all, 'list', filters, cursor] as const,
  one: (id: string) => [...keys.all, 'one', id] as const,
  runs: (id: string) => [...keys.all, 'runs', id] as const,
  groups: () => [...keys.all, 'groups'] as const,
  group: (name: string) => [...keys.groups(), name] as const,
  tokens: (name: string) => [...keys.all, 'tokens', name] as const,
}

/** Workers beat every few seconds, and no topic of the feed tells of it: pages ask as often. */
const BEAT_MS = 5_000
const PAGE = 50
const RUNS = 50

/** The filters of the list; empty is all. */
export interface Filters {
  group: string
  status: Worker['status'] | ''
}

/** A page of workers, by id. */
export function useWorkers(filters: () => Filters, cursor: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => keys.list({ ...filters() }, toValue(cursor))),
    queryFn: ({ signal }) => {
      const { group, status } = filters()
      const at = toValue(cursor)
      const query = { limit: PAGE, ...(group && { group }), ...(status && { status }), ...(at && { cursor: at }) }
      return data(client.GET('/api/v1/workers', { params: { query }, signal }))
    },
    refetchInterval: BEAT_MS,
  })
}

/** One worker. */
export function useWorker(id: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => keys.one(toValue(id))),
    queryFn: ({ signal }) => data(client.GET('/api/v1/workers/{id}', { params: { path: { id: toValue(id) } }, signal })),
    refetchInterval: BEAT_MS,
  })
}

/** What a worker runs now, newest first. */
export function useRuns(id: MaybeRefOrGetter<string>) {
  const key = computed(() => keys.runs(toValue(id)))
  useLive(['executions'], () => [key.value])
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => data(client.GET('/api/v1/executions', {
      params: { query: { nodeId: toValue(id), status: 'RUNNING', limit: RUNS } }, signal,
    })),
    enabled: computed(() => can('execution:read')),
  })
}

/** Keeps new runs away from a worker, or lets them start there again. */
export function useDrain() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, drain }: { id: string; drain: boolean }) => {
      const params = { params: { path: { id } } }
      return data(drain ? client.POST('/api/v1/workers/{id}/drain', params) : client.POST('/api/v1/workers/{id}/resume', params))
    },
    onSuccess: (worker) => {
      queries.setQueryData(keys.one(worker.id), worker)
      return queries.invalidateQueries({ queryKey: keys.all })
    },
  })
}

/** All worker groups, by name. */
export function useGroups() {
  return useQuery({
    queryKey: keys.groups(),
    queryFn: ({ signal }) => data(client.GET('/api/v1/worker-groups', { signal })),
    refetchInterval: BEAT_MS,
  })
}

/** One worker group. */
export function useGroup(name: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => keys.group(toValue(name))),
    queryFn: ({ signal }) => data(client.GET('/api/v1/worker-groups/{name}', { params: { path: { name: toValue(name) } }, signal })),
    refetchInterval: BEAT_MS,
  })
}

interface GroupEdit {
  name: string
  jobGroups: string[]
  secrets: boolean
  commands: boolean
  maxWorkers: number
  /** The version that was read; none makes a group. */
  version?: number
}

/** Makes a worker group, or changes the version that was read. */
export function useSaveGroup() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ name, ...body }: GroupEdit) => data(client.PUT('/api/v1/worker-groups/{name}', { params: { path: { name } }, body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.all }),
  })
}

export function useDeleteGroup() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (name: string) => data(client.DELETE('/api/v1/worker-groups/{name}', { params: { path: { name } } })),
    onSuccess: (_, name) => {
      queries.removeQueries({ queryKey: keys.group(name) })
      queries.removeQueries({ queryKey: keys.tokens(name) })
      return queries.invalidateQueries({ queryKey: keys.groups() })
    },
  })
}

/** The tokens of a worker group, without the tokens themselves. */
export function useTokens(name: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => keys.tokens(toValue(name))),
    queryFn: ({ signal }) => data(client.GET('/api/v1/worker-groups/{name}/tokens', { params: { path: { name: toValue(name) } }, signal })),
  })
}

/** Makes a token of a worker group; the answer has it, this once. It is not cached. */
export function useNewToken() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ group, ...body }: { group: string; name: string; expiresAt: string }) =>
      data(client.POST('/api/v1/worker-groups/{name}/tokens', { params: { path: { name: group } }, body })),
    gcTime: 0,
    onSuccess: (_, { group }) => queries.invalidateQueries({ queryKey: keys.tokens(group) }),
  })
}

export function useRevoke() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ group, id }: Pick<WorkerToken, 'group' | 'id'>) =>
      data(client.DELETE('/api/v1/worker-groups/{name}/tokens/{id}', { params: { path: { name: group, id } } })),
    onSuccess: (_, { group }) => queries.invalidateQueries({ queryKey: keys.tokens(group) }),
  })
}
