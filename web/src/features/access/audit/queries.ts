import { keepPreviousData, useQuery } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import type { AuditQuery } from './audit'

export type AuditEntry = Model<'AuditEntry'>

/** A page of the audit log, newest first. */
export function useAudit(query: MaybeRefOrGetter<AuditQuery>) {
  return useQuery({
    queryKey: computed(() => ['access', 'audit', toValue(query)]),
    queryFn: ({ signal }) => data(client.GET('/api/v1/audit-logs', { params: { query: toValue(query) }, signal })),
    placeholderData: keepPreviousData,
  })
}
