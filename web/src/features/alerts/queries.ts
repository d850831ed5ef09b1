import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import { useLive } from '@/shared/live'
import type { AlertQuery, Verb } from './alert'

export type Alert = Model<'Alert'>
export type Delivery = Model<'AlertDelivery'>
export type AlertAction = Model<'AlertAction'>

/** The keys of what is cached: everything of the feature begins alike. */
const keys = {
  all: ['alerts'] as const,
  list: (query: AlertQuery) => [...keys.all, 'list', query] as const,
  one: (id: string) => [...keys.all, 'one', id] as const,
}

/** A page of alerts, the newest first. */
export function useAlerts(query: MaybeRefOrGetter<AlertQuery>) {
  const key = computed(() => keys.list(toValue(query)))
  useLive(['alerts'], () => [key.value])
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => data(client.GET('/api/v1/alerts', { params: { query: toValue(query) }, signal })),
    placeholderData: keepPreviousData,
  })
}

/** One alert with its messages and actions. */
export function useAlert(id: MaybeRefOrGetter<string>) {
  const key = computed(() => keys.one(toValue(id)))
  useLive(['alerts'], () => [key.value])
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => data(client.GET('/api/v1/alerts/{id}', { params: { path: { id: toValue(id) } }, signal })),
  })
}

/** Acknowledges or resolves one alert. */
export function useVerb() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, verb, comment }: { id: string; verb: Verb; comment: string }) => {
      const call = { params: { path: { id } }, body: { comment } }
      return data(verb === 'ack' ? client.POST('/api/v1/alerts/{id}/ack', call) : client.POST('/api/v1/alerts/{id}/resolve', call))
    },
    onSuccess: (alert) => {
      queries.setQueryData(keys.one(alert.id), alert)
      return queries.invalidateQueries({ queryKey: [...keys.all, 'list'] })
    },
  })
}
