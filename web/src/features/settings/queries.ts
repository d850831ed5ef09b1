import { useQuery } from '@tanstack/vue-query'
import { client, data } from '@/shared/api/client'
import { Problem } from '@/shared/api/problem'
import type { Model } from '@/shared/api/types'
import { useLive } from '@/shared/live'

export type Setting = Model<'Setting'>

/** A part that does not work as it should. */
type Part = Pick<Model<'Degraded'>, 'part'> & Partial<Model<'Degraded'>>

const READY_MS = 15_000
const STANDBY_MS = 30_000
const READY_KEY = ['settings', 'ready'] as const

/** The settings of the node that answers. They change by a restart alone. */
export function useSettings() {
  return useQuery({
    queryKey: ['settings', 'list'],
    queryFn: ({ signal }) => data(client.GET('/api/v1/settings', { signal })),
  })
}

/**
 * The parts that do not work as they should: of this node with its reasons, of the
 * cluster their names. A node that is not ready says why.
 */
export function useDegraded() {
  useLive(['nodes'], [READY_KEY])
  return useQuery({
    queryKey: READY_KEY,
    queryFn: async ({ signal }): Promise<Part[]> => {
      const [here, { degraded }] = await Promise.all([
        data(client.GET('/readyz', { signal })).then((health) => health.degraded ?? [], notReady),
        data(client.GET('/api/v1/monitor/overview', { signal })),
      ])
      const others = degraded.filter((part) => !here.some((p) => p.part === part))
      return [...here, ...others.map((part) => ({ part }))]
    },
    // Parts degrade without an event.
    refetchInterval: READY_MS,
  })
}

/** Why the server that answers stands by; undefined while it works. */
export function useStandby() {
  return useQuery({
    queryKey: ['settings', 'standby'],
    queryFn: ({ signal }) => data(client.GET('/readyz', { signal })).then((health) => health.degraded ?? [], () => []),
    select: (degraded) => degraded.find((d) => d.part === 'standby')?.reason,
    refetchInterval: STANDBY_MS,
  })
}

function notReady(failure: unknown): Part[] {
  if (failure instanceof Problem && failure.status === 503) return [{ part: 'node', reason: failure.detail }]
  throw failure
}

/** Which program answers. */
export function useVersion() {
  return useQuery({
    queryKey: ['settings', 'version'],
    queryFn: ({ signal }) => data(client.GET('/version', { signal })),
  })
}
