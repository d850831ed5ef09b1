import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data, onceKey } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import { useLive } from '@/shared/live'
import { keys } from '../queries'

export { onceKey }
export type Rule = Model<'Rule'>
export type Silence = Model<'Silence'>

const ALL = ['alerts'] as const
/** The server keeps at most 1,000 of each; a page has 200. */
const PAGES = 5

/** The alerts of a job in these states, newest first. */
export function useJobAlerts(id: MaybeRefOrGetter<string>, status: MaybeRefOrGetter<string>, cursor: MaybeRefOrGetter<string>) {
  useLive(ALL, () => [keys.aside(toValue(id), 'alerts')])
  return useQuery({
    queryKey: computed(() => [...keys.aside(toValue(id), 'alerts'), toValue(status), toValue(cursor)]),
    queryFn: ({ signal }) => data(client.GET('/api/v1/alerts', {
      params: {
        query: { jobId: toValue(id), limit: 50, ...(toValue(status) && { status: toValue(status) }), ...(toValue(cursor) && { cursor: toValue(cursor) }) },
      },
      signal,
    })),
    placeholderData: keepPreviousData,
  })
}

/** All items of a list, page by page. */
async function whole<T>(page: (cursor: string) => Promise<{ items: T[]; nextCursor: string | null }>): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = ''
  for (let n = 0; n < PAGES && cursor !== null; n++) {
    const got: { items: T[]; nextCursor: string | null } = await page(cursor)
    items.push(...got.items)
    cursor = got.nextCursor
  }
  return items
}

const page = (cursor: string) => ({ query: { limit: 200, ...(cursor && { cursor }) } })

/** All rules that one may see. */
export function useRules() {
  return useQuery({
    queryKey: [...keys.all, 'rules'],
    queryFn: ({ signal }) => whole((cursor) => data(client.GET('/api/v1/alert-rules', { params: page(cursor), signal }))),
  })
}

/** All silences that one may see; a silence begins and ends without an event. */
export function useSilences() {
  return useQuery({
    queryKey: [...keys.all, 'silences'],
    queryFn: ({ signal }) => whole((cursor) => data(client.GET('/api/v1/alert-silences', { params: page(cursor), signal }))),
    refetchInterval: 30_000,
  })
}

function useChanged<In, Out>(act: (input: In) => Promise<Out>) {
  const queries = useQueryClient()
  return useMutation({ mutationFn: act, onSettled: () => queries.invalidateQueries({ queryKey: [...keys.all, 'silences'] }) })
}

export function useSilence() {
  return useChanged(({ body, key }: { body: Model<'SilenceBody'>; key: string }) =>
    data(client.POST('/api/v1/alert-silences', { params: { header: { 'Idempotency-Key': key } }, body })))
}

/** Ends a silence: it is deleted. */
export function useEndSilence() {
  return useChanged((id: string) =>
    data(client.DELETE('/api/v1/alert-silences/{id}', { params: { path: { id } } })))
}
