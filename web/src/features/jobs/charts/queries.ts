import { keepPreviousData, useQuery } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import { keys } from '../queries'
import { SPANS, type Period } from './series'

/** The outcomes of the runs of a job, by hours of three days or days of a month, and what is usual for it. */
export function useFigures(id: MaybeRefOrGetter<string>, by: MaybeRefOrGetter<Period>, timeZone: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => [...keys.aside(toValue(id), 'figures'), toValue(by), toValue(timeZone)]),
    queryFn: ({ signal }) => data(client.GET('/api/v1/monitor/statistics', {
      params: {
        query: { job: toValue(id), by: toValue(by), timeZone: toValue(timeZone), from: new Date(Date.now() - SPANS[toValue(by)]).toISOString() },
      },
      signal,
    })),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  })
}
