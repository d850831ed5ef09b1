import { useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data, onceKey } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import { useLive } from '@/shared/live'
import { groupsKey } from '@/shared/queries/groups'

export type Group = Model<'Group'>

const PAGE = 50

/** A page of groups, by name. */
export function useGroups(cursor: MaybeRefOrGetter<string>) {
  const key = computed(() => [...groupsKey, 'list', toValue(cursor)])
  useLive(['jobs'], () => [key.value])
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => {
      const at = toValue(cursor)
      return data(client.GET('/api/v1/groups', { params: { query: { limit: PAGE, ...(at ? { cursor: at } : {}) } }, signal }))
    },
  })
}

interface GroupEdit {
  name: string
  maxConcurrency: number
  /** The version that was read; none makes a group. */
  version?: number
}

/** Makes a group, or changes the version that was read. */
export function useSaveGroup() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ name, maxConcurrency, version }: GroupEdit) => data(version === undefined
      ? client.POST('/api/v1/groups', { body: { name, maxConcurrency }, params: { header: { 'Idempotency-Key': onceKey() } } })
      : client.PUT('/api/v1/groups/{name}', { params: { path: { name } }, body: { maxConcurrency, version } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: groupsKey }),
  })
}

export function useDeleteGroup() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (name: string) => data(client.DELETE('/api/v1/groups/{name}', { params: { path: { name } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: groupsKey }),
  })
}

/** Pauses all jobs of a group, or lets them go on. */
export function usePauseGroup() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ name, pause, reason }: { name: string; pause: boolean; reason: string }) => {
      const path = { path: { name } }
      return data(pause
        ? client.POST('/api/v1/groups/{name}/pause', { params: path, body: { reason } })
        : client.POST('/api/v1/groups/{name}/resume', { params: path }))
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: groupsKey }),
  })
}
