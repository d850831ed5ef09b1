import { keepPreviousData, useInfiniteQuery } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import { keys, useChange } from '../queries'

export type Version = Model<'JobVersion'>

const PAGE = 50

/** The versions of a job, newest first, as many pages as were asked for; `now` is the newest one. */
export function useVersions(id: MaybeRefOrGetter<string>, now: MaybeRefOrGetter<number>) {
  return useInfiniteQuery({
    queryKey: computed(() => [...keys.aside(toValue(id), 'versions'), toValue(now)]),
    queryFn: ({ pageParam, signal }) => data(client.GET('/api/v1/jobs/{id}/versions', {
      params: { path: { id: toValue(id) }, query: { limit: PAGE, ...(pageParam && { cursor: pageParam }) } }, signal,
    })),
    initialPageParam: '',
    getNextPageParam: (last) => last.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    // A version never changes.
    staleTime: Infinity,
  })
}

/** Makes a version equal to a former one; `now` is the version that was shown as the present one. */
export function useRestore() {
  return useChange(({ id, version, now }: { id: string; version: number; now: number }) =>
    data(client.POST('/api/v1/jobs/{id}/versions/{version}/restore', { params: { path: { id, version } }, body: { version: now } })))
}
