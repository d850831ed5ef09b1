import { useQueries, useQuery } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import { useLive } from '@/shared/live'
import { can } from '@/shared/session/session'
import { keys } from '../queries'

export type WorkflowRun = Model<'WorkflowRun'>
export type WorkflowRunDetail = Model<'WorkflowRunDetail'>

/** The workflow runs that the grid shows. */
export const GRID_RUNS = 25
/** No topic tells of each step that ends: runs that are not closed are asked for as often. */
const OPEN_MS = 3_000

/** The steps of a version of a workflow; of the newest one without a version. */
export function useGraph(id: MaybeRefOrGetter<string>, version: MaybeRefOrGetter<number | undefined>) {
  return useQuery({
    queryKey: computed(() => keys.of(toValue(id), `graph ${String(toValue(version) ?? '')}`)),
    queryFn: ({ signal }) => {
      const at = toValue(version)
      return data(client.GET('/api/v1/jobs/{id}/graph', { params: { path: { id: toValue(id) }, query: at === undefined ? {} : { version: at } }, signal }))
    },
    placeholderData: (before) => before,
  })
}

/** The newest runs of a workflow. */
export function useWorkflowRuns(id: MaybeRefOrGetter<string>) {
  const key = computed(() => keys.of(toValue(id), 'workflow-runs'))
  useLive(() => [`job:${toValue(id)}` as const], () => [key.value])
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => data(client.GET('/api/v1/workflow-runs', { params: { query: { workflowId: toValue(id), limit: GRID_RUNS } }, signal })),
    enabled: computed(() => can('execution:read')),
    refetchInterval: ({ state }) => (state.data?.items.some((run) => run.phase !== 'CLOSED') ? OPEN_MS : false),
  })
}

/** Runs with their steps, in the order of `runs`. A closed run does not change, so it is read once. */
export function useRunSteps(runs: MaybeRefOrGetter<readonly WorkflowRun[]>) {
  const found = useQueries({
    queries: computed(() => toValue(runs).map(({ id, phase }) => ({
      queryKey: keys.aside(id, `steps ${phase}`),
      queryFn: ({ signal }: { signal: AbortSignal }) => data(client.GET('/api/v1/workflow-runs/{id}', { params: { path: { id } }, signal })),
      staleTime: phase === 'CLOSED' ? Infinity : 0,
      refetchInterval: phase === 'CLOSED' ? (false as const) : OPEN_MS,
      placeholderData: (before: WorkflowRunDetail | undefined) => before,
    }))),
  })
  return computed(() => found.value.map((one) => one.data))
}
