import { useQuery } from '@tanstack/vue-query'
import { computed, type ComputedRef } from 'vue'
import { client, data } from '@/shared/api/client'
import { Problem } from '@/shared/api/problem'
import type { Model, Permission } from '@/shared/api/types'
import { useLive } from '@/shared/live'
import { can, signedIn } from '@/shared/session/session'
import { hasToken, headersOfWall, tokenTurn } from './token'

export type Overview = Model<'Overview'>
type Execution = Model<'Execution'>
export type Load = Model<'Load'>

/** How often the wall asks, in milliseconds. A stream needs a session; with a token there is none. */
const NOW_MS = 5_000
const LISTS_MS = 15_000
const LOAD_MS = 60_000
/** Where it was refused, it asks again, but seldom. */
const REFUSED_MS = 60_000

/** How many are read of each kind, and how many minutes of the plan. */
const SHOWN = 6
const MINUTES = 120

/** Whether somebody is there to ask for: a token, or else a session. */
export const mayAsk = computed(() => hasToken.value || signedIn.value)

const keys = {
  of: (part: string) => ['wall', part, tokenTurn.value] as const,
}

/** A token's rights are known by its answers; those of a session before. */
function asked(permission: Permission): ComputedRef<boolean> {
  return computed(() => hasToken.value || can(permission))
}

const every = (ms: number) => ({ state: { error } }: { state: { error: unknown } }) =>
  (error instanceof Problem && (error.status === 401 || error.status === 403) ? REFUSED_MS : ms)

/** The numbers of running, waiting and failing executions at this moment. */
export function useWallNow() {
  useLive(['executions', 'nodes', 'jobs'], [['wall', 'now']])
  return useQuery({
    queryKey: computed(() => keys.of('now')),
    queryFn: ({ signal }) => data(client.GET('/api/v1/monitor/overview', { headers: headersOfWall(), signal })),
    enabled: mayAsk,
    refetchInterval: every(NOW_MS),
    refetchIntervalInBackground: true,
  })
}

/** The alerts that fire now, newest first. */
export function useWallAlerts() {
  useLive(['alerts'], [['wall', 'alerts']])
  return useQuery({
    queryKey: computed(() => keys.of('alerts')),
    queryFn: ({ signal }) => data(client.GET('/api/v1/alerts', {
      params: { query: { status: 'FIRING', limit: SHOWN } }, headers: headersOfWall(), signal,
    })),
    enabled: asked('alert:read'),
    refetchInterval: every(NOW_MS),
  })
}

/** The newest runs that failed, timed out or are dead letters. */
export function useWallFailures() {
  return useQuery({
    queryKey: computed(() => keys.of('failures')),
    queryFn: async ({ signal }) => {
      const pages = await Promise.all((['FAILED', 'TIMEOUT', 'DEAD'] as const).map((status) => data(client.GET('/api/v1/executions', {
        params: { query: { status, limit: SHOWN } }, headers: headersOfWall(), signal,
      }))))
      const ended = (e: Execution) => e.endTime ?? e.updateTime
      return pages.flatMap((page) => page.items).sort((a, b) => ended(b).localeCompare(ended(a))).slice(0, SHOWN)
    },
    enabled: asked('execution:read'),
    refetchInterval: every(LISTS_MS),
  })
}

/** The planned fires of the coming two hours. */
export function useWallLoad() {
  return useQuery({
    queryKey: computed(() => keys.of('load')),
    queryFn: ({ signal }) => data(client.GET('/api/v1/schedules/load', {
      params: { query: { minutes: MINUTES } }, headers: headersOfWall(), signal,
    })),
    enabled: asked('job:read'),
    refetchInterval: every(LOAD_MS),
  })
}
