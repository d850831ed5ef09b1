import { keepPreviousData, useQuery } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import { keys } from '../queries'

export type Entry = Model<'AuditEntry'>

/** The calls of people and programs about a job, newest first. */
export function useAudit(id: MaybeRefOrGetter<string>, cursor: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => [...keys.aside(toValue(id), 'audit'), toValue(cursor)]),
    queryFn: ({ signal }) => data(client.GET('/api/v1/audit-logs', {
      params: { query: { object: toValue(id), limit: 50, ...(toValue(cursor) && { cursor: toValue(cursor) }) } }, signal,
    })),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  })
}
