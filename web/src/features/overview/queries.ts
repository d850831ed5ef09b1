import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { computed, onScopeDispose, toValue, watch, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import { useLive } from '@/shared/live'
import { can } from '@/shared/session/session'

export type Overview = Model<'Overview'>
export type Load = Model<'Load'>
export type LoadMinute = Model<'LoadMinute'>
export type Spread = Model<'Spread'>
export type Line = Model<'StatisticsLine'>
export type Today = Model<'Today'>
export type DayFigures = Model<'DayFigures'>
export type Cause = Model<'FailureCause'>

/** The keys of what is cached: everything of the feature begins alike. */
const keys = {
  now: ['overview', 'now'] as const,
  load: ['overview', 'load'] as const,
  spread: ['overview', 'spread'] as const,
  today: (zone: string) => ['overview', 'today', zone] as const,
  hours: (from: string, zone: string) => ['overview', 'hours', from, zone] as const,
  causes: ['overview', 'causes'] as const,
  alerts: ['overview', 'alerts'] as const,
}

/** How long sums of many rows stand before they are asked for anew, in milliseconds. */
const SUMS_MS = 60_000
const CAUSES_MS = 10_000

/** The numbers of running, waiting and failing executions at this moment. */
export function useOverview() {
  useLive(['executions', 'nodes', 'jobs'], [keys.now])
  return useQuery({
    queryKey: keys.now,
    queryFn: ({ signal }) => data(client.GET('/api/v1/monitor/overview', { signal })),
    // Parts degrade without an event.
    refetchInterval: 30_000,
  })
}

/** The planned fires of the coming day. */
export function useLoad() {
  useLive(['jobs'], [keys.load])
  return useQuery({
    queryKey: keys.load,
    queryFn: ({ signal }) => data(client.GET('/api/v1/schedules/load', { params: { query: { minutes: 1_440 } }, signal })),
    refetchInterval: 5 * SUMS_MS,
    staleTime: SUMS_MS,
  })
}

/** Today up to now, and what is usual by this time. */
export function useToday(timeZone: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => keys.today(toValue(timeZone))),
    queryFn: ({ signal }) => data(client.GET('/api/v1/monitor/today', { params: { query: { timeZone: toValue(timeZone) } }, signal })),
    refetchInterval: SUMS_MS,
    staleTime: SUMS_MS / 2,
  })
}

/** The ends of runs, hour by hour, since a moment, once it is known. */
export function useHours(from: MaybeRefOrGetter<string | undefined>, timeZone: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => keys.hours(toValue(from) ?? '', toValue(timeZone))),
    queryFn: ({ signal }) => data(client.GET('/api/v1/monitor/statistics', {
      params: { query: { by: 'HOUR', from: toValue(from) ?? '', timeZone: toValue(timeZone) } }, signal,
    })),
    enabled: computed(() => toValue(from) !== undefined),
    refetchInterval: SUMS_MS,
    staleTime: SUMS_MS / 2,
  })
}

/**
 * The failures of the last day, by cause, the most frequent first. It reads many rows: it is asked for anew when
 * `failures`, a cheap count of them, changes, and not more than once in ten seconds.
 */
export function useCauses(failures: MaybeRefOrGetter<number | undefined>) {
  const query = useQuery({
    queryKey: keys.causes,
    queryFn: ({ signal }) => data(client.GET('/api/v1/monitor/failures', { signal })),
    enabled: computed(() => can('execution:read')),
    refetchInterval: 5 * SUMS_MS,
    staleTime: CAUSES_MS,
  })
  let due: ReturnType<typeof setTimeout> | undefined
  watch(() => toValue(failures), (_, before) => {
    if (before === undefined || due !== undefined || !can('execution:read')) return
    due = setTimeout(() => {
      due = undefined
      void query.refetch()
    }, Math.max(0, query.dataUpdatedAt.value + CAUSES_MS - Date.now()))
  })
  onScopeDispose(() => clearTimeout(due))
  return query
}

/** The alerts that fire now, newest first. */
export function useFiring() {
  useLive(['alerts'], [keys.alerts])
  return useQuery({
    queryKey: keys.alerts,
    queryFn: ({ signal }) => data(client.GET('/api/v1/alerts', { params: { query: { status: 'FIRING', limit: 6 } }, signal })),
    enabled: computed(() => can('alert:read')),
  })
}

/** The effect of a jitter on the jobs that start in a minute; nothing is changed. */
export function useSpreadPlan(minute: MaybeRefOrGetter<string>, jitterMs: MaybeRefOrGetter<number>, asked: MaybeRefOrGetter<boolean>) {
  return useQuery({
    queryKey: computed(() => [...keys.spread, toValue(minute), toValue(jitterMs)]),
    queryFn: ({ signal }) => data(client.POST('/api/v1/schedules/spread', {
      body: { minute: toValue(minute), jitterMs: toValue(jitterMs), dryRun: true }, signal,
    })),
    enabled: computed(() => toValue(asked)),
    placeholderData: keepPreviousData,
    staleTime: 0,
  })
}

/** Gives the jobs that start in a minute a jitter. */
export function useSpread() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: { minute: string; jitterMs: number }) => data(client.POST('/api/v1/schedules/spread', { body })),
    onSuccess: () => Promise.all([
      queries.invalidateQueries({ queryKey: keys.load }), queries.invalidateQueries({ queryKey: keys.spread, refetchType: 'none' }),
    ]),
  })
}
