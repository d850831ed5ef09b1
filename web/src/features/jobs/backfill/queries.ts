import { keepPreviousData, useMutation, useQuery } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data, onceKey } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import { keys, path, useChange } from '../queries'
import type { Range } from './range'

export { onceKey }
export type Backfill = Model<'Backfill'>
export type Plan = Model<'BackfillPlan'>

/** The backfills of a job, newest first; while one goes on, again and again. */
export function useBackfills(id: MaybeRefOrGetter<string>, cursor: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => [...keys.of(toValue(id), 'backfills'), toValue(cursor)]),
    queryFn: ({ signal }) => data(client.GET('/api/v1/jobs/{id}/backfills', {
      params: { path: { id: toValue(id) }, query: { limit: 20, ...(toValue(cursor) && { cursor: toValue(cursor) }) } }, signal,
    })),
    placeholderData: keepPreviousData,
    refetchInterval: (query) => (query.state.data?.items.some((b) => b.status === 'ACTIVE') ? 2_000 : false),
  })
}

/** The plan of a backfill. */
export function usePlan() {
  return useMutation({
    mutationFn: async ({ id, range }: { id: string; range: Range }) =>
      (await data(client.POST('/api/v1/jobs/{id}/backfill', { params: path(id), body: { ...range, dryRun: true } }))) as Plan,
  })
}

/** Starts a backfill; the key is that of the plan, so that a repetition starts no second one. */
export function useStart() {
  return useChange(({ id, range, key }: { id: string; range: Range; key: string }) =>
    data(client.POST('/api/v1/jobs/{id}/backfill', { params: { ...path(id), header: { 'Idempotency-Key': key } }, body: { ...range, dryRun: false } })))
}

export function useCancel() {
  return useChange(({ id, backfillId }: { id: string; backfillId: string }) =>
    data(client.POST('/api/v1/jobs/{id}/backfills/{backfillId}/cancel', { params: { path: { id, backfillId } } })))
}
