import { keepPreviousData, useQuery } from '@tanstack/vue-query'
import { computed, ref, toValue, watch, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import { untilFound } from '@/shared/api/search'
import { can } from '@/shared/session/session'

const MOST_JOBS = 8

/** Jobs whose name holds a text; none for less than two letters. It looks on by itself until it found some, or is stopped. */
export function useJobsByName(text: MaybeRefOrGetter<string>) {
  const name = computed(() => toValue(text).trim())
  const enabled = computed(() => name.value.length >= 2 && can('job:read'))
  const stopped = ref(false)
  /** How far back it looked while it found none; undefined before the first page, empty where nobody says. */
  const until = ref<string>()
  let from = ''
  watch(name, () => {
    stopped.value = false
    until.value = undefined
    from = ''
  }, { flush: 'sync' })

  const query = useQuery({
    queryKey: ['palette', 'jobs', name],
    queryFn: ({ signal }) => {
      const asked = name.value
      const load = (cursor: string) =>
        data(client.GET('/api/v1/jobs', { params: { query: { name: asked, limit: MOST_JOBS, ...(cursor && { cursor }) } }, signal }))
      return untilFound(load, from, (page) => {
        if (name.value === asked) {
          until.value = page.searchedUntil ?? ''
          from = page.nextCursor ?? ''
        }
        return !stopped.value
      })
    },
    enabled,
    placeholderData: keepPreviousData,
    // A search that was stopped begins anew with its next letters.
    staleTime: 0,
  })
  watch(stopped, (now) => {
    if (!now && enabled.value && from !== '') void query.refetch()
  })
  /** Whether jobs may be there that were not looked at, while none was found. */
  const open = computed(() => enabled.value && (query.isFetching.value
    || (query.data.value?.items.length === 0 && query.data.value.nextCursor !== null)))
  return { data: query.data, enabled, stopped, until, open }
}
