import { useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import { useLive } from '@/shared/live'

export type Node = Model<'Node'>

/** The keys of what is cached: everything of the feature begins alike. */
const keys = {
  all: ['nodes'] as const,
  list: () => [...keys.all, 'list'] as const,
  one: (id: string) => [...keys.all, 'one', id] as const,
}

/** All nodes, by id. */
export function useNodes() {
  useLive(['nodes'], [keys.list()])
  return useQuery({
    queryKey: keys.list(),
    queryFn: ({ signal }) => data(client.GET('/api/v1/nodes', { signal })),
  })
}

/** One node. */
export function useNode(id: MaybeRefOrGetter<string>) {
  const key = computed(() => keys.one(toValue(id)))
  useLive(['nodes'], () => [key.value])
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => data(client.GET('/api/v1/nodes/{id}', { params: { path: { id: toValue(id) } }, signal })),
  })
}

/** Keeps new runs away from a node, or lets them start there again. */
export function useDrain() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, drain }: { id: string; drain: boolean }) => {
      const params = { params: { path: { id } } }
      return data(drain ? client.POST('/api/v1/nodes/{id}/drain', params) : client.POST('/api/v1/nodes/{id}/resume', params))
    },
    onSuccess: (node) => {
      queries.setQueryData(keys.one(node.id), node)
      return queries.invalidateQueries({ queryKey: keys.all })
    },
  })
}
