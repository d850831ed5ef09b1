import { keepPreviousData, useQuery } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import { can } from '@/shared/session/session'

const MOST_JOBS = 8

/** Jobs whose name holds a text; none for less than two letters. */
export function useJobsByName(text: MaybeRefOrGetter<string>) {
  const name = computed(() => toValue(text).trim())
  return useQuery({
    queryKey: ['palette', 'jobs', name],
    queryFn: ({ signal }) => data(client.GET('/api/v1/jobs', { params: { query: { name: name.value, limit: MOST_JOBS } }, signal })),
    enabled: computed(() => name.value.length >= 2 && can('job:read')),
    placeholderData: keepPreviousData,
  })
}
