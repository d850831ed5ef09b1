import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data, onceKey } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import { useLive } from '@/shared/live'

export type Bulk = Model<'Bulk'>
export { onceKey }

/** Which letters are meant: those of a cause, or those of some ids. */
export type Chosen = { jobId: string; reason: string } | { ids: string[] }
export type Verb = 'replay' | 'discard'

const keys = {
  all: ['deadletters'] as const,
  causes: () => [...keys.all, 'causes'] as const,
  lists: () => [...keys.all, 'list'] as const,
}

/** The dead letters that wait, counted by job and reason. */
export function useCauses() {
  useLive(['executions'], [keys.all])
  return useQuery({
    queryKey: keys.causes(),
    queryFn: ({ signal }) => data(client.GET('/api/v1/dead-letters/causes', { signal })),
  })
}

/** A page of dead letters, newest first; of one cause where one is given. */
export function useDeadLetters(filters: () => { jobId: string; reason: string }, cursor: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => [...keys.lists(), { ...filters() }, toValue(cursor)]),
    queryFn: ({ signal }) => {
      const given = Object.entries({ ...filters(), cursor: toValue(cursor) }).filter(([, value]) => value !== '')
      return data(client.GET('/api/v1/dead-letters', { params: { query: { ...Object.fromEntries(given), limit: 50 } }, signal }))
    },
    placeholderData: keepPreviousData,
  })
}

/** Runs dead letters again, or gives them up; the answer has a result for each. */
export function useTreat() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ verb, chosen, once }: { verb: Verb; chosen: Chosen; once: string }) => data(verb === 'replay'
      ? client.POST('/api/v1/bulk/dead-letters/replay', { body: chosen, params: { header: { 'Idempotency-Key': once } } })
      : client.POST('/api/v1/bulk/dead-letters/discard', { body: chosen })),
    onSuccess: () => Promise.all([
      queries.invalidateQueries({ queryKey: keys.all }), queries.invalidateQueries({ queryKey: ['executions'] }),
    ]),
  })
}
