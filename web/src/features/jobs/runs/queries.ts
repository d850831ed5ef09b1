import { keepPreviousData, useQuery } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import { can } from '@/shared/session/session'
import { keys, useChange, type Bulk } from '../queries'

export type Execution = Model<'Execution'>
type Trigger = Model<'Trigger'>

const PAGE = 50
/** How runs come to be beside the schedule. */
const ASKED_FOR: readonly Trigger[] = ['MANUAL', 'API', 'RETRY']
/** Most pages of each of them that the ledger asks for. */
const PAGES = 3

/** A page of the executions of a job, newest first. */
export function useRuns(id: MaybeRefOrGetter<string>, status: MaybeRefOrGetter<string>, cursor: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => [...keys.of(toValue(id), 'runs'), toValue(status), toValue(cursor)]),
    queryFn: ({ signal }) => data(client.GET('/api/v1/executions', {
      params: {
        query: {
          jobId: toValue(id), limit: PAGE, ...(toValue(cursor) && { cursor: toValue(cursor) }),
          ...(toValue(status) && { status: toValue(status) as Execution['status'] }),
        },
      },
      signal,
    })),
    placeholderData: keepPreviousData,
  })
}

/** The latest run of a job, whatever started it; null where there is none. */
export function useLatestRun(id: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => keys.of(toValue(id), 'latest')),
    queryFn: async ({ signal }) => {
      const { items } = await data(client.GET('/api/v1/executions', { params: { query: { jobId: toValue(id), limit: 1 } }, signal }))
      return items[0] ?? null
    },
    enabled: computed(() => can('execution:read')),
    placeholderData: keepPreviousData,
  })
}

/** The runs of a range that somebody asked for, beside the schedule; those of the schedule are the ledger's. */
export function useAskedFor(id: MaybeRefOrGetter<string>, range: MaybeRefOrGetter<{ from: string; to: string } | undefined>) {
  return useQuery({
    queryKey: computed(() => [...keys.of(toValue(id), 'askedFor'), toValue(range)]),
    queryFn: async ({ signal }) => {
      const of = async (trigger: Trigger): Promise<Execution[]> => {
        const items: Execution[] = []
        let cursor: string | null = ''
        for (let page = 0; page < PAGES && cursor !== null; page++) {
          const query = { ...toValue(range), jobId: toValue(id), trigger, limit: PAGE, ...(cursor && { cursor }) }
          const got: Model<'ExecutionPage'> = await data(client.GET('/api/v1/executions', { params: { query }, signal }))
          items.push(...got.items)
          cursor = got.nextCursor
        }
        return items
      }
      return (await Promise.all(ASKED_FOR.map(of))).flat().sort((a, b) => a.scheduledTime.localeCompare(b.scheduledTime))
    },
    enabled: computed(() => can('execution:read') && toValue(range) !== undefined),
    placeholderData: keepPreviousData,
  })
}

/** Most objects of one bulk call. */
const MOST = 500

/** Runs executions again, each as a new one with its parameters; the answer has a result for each. */
export function useRunAgain() {
  return useChange(async ({ ids, once }: { ids: readonly string[]; once: string }): Promise<Bulk> => {
    const whole: Bulk = { items: [], succeeded: 0, failed: 0, more: false }
    for (let at = 0; at < ids.length; at += MOST) {
      const header = { 'Idempotency-Key': `${once}-${at}` }
      const part = await data(client.POST('/api/v1/bulk/executions/retry', { body: { ids: ids.slice(at, at + MOST) }, params: { header } }))
      whole.items.push(...part.items)
      whole.succeeded += part.succeeded
      whole.failed += part.failed
      whole.more ||= part.more
    }
    return whole
  })
}
