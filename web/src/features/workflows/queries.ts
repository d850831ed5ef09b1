import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data, onceKey } from '@/shared/api/client'
import { asProblem } from '@/shared/api/problem'
import type { Model } from '@/shared/api/types'
import { useLive } from '@/shared/live'

export type WorkflowRun = Model<'WorkflowRun'>
export type WorkflowRunDetail = Model<'WorkflowRunDetail'>
export type WorkflowStep = Model<'WorkflowStep'>
export type RetryStep = Model<'WorkflowRetryStep'>
export type Approval = Model<'Approval'>
export type Decision = Model<'VoteBody'>['decision']

/** The filters of the list of runs; empty is all. */
export interface RunFilters {
  workflowId: string
  group: string
  phase: WorkflowRun['phase'] | ''
  status: Model<'Status'> | ''
}

/** The filters of the list of approvals; empty is all. */
export interface ApprovalFilters {
  status: 'OPEN' | 'DECIDED' | ''
  mine: boolean
}

const keys = {
  all: ['workflows'] as const,
  runs: () => [...keys.all, 'runs'] as const,
  run: (id: string) => [...keys.all, 'run', id] as const,
  approvals: () => [...keys.all, 'approvals'] as const,
}

/** No topic tells of a step that waited and is taken by a node: while one waits, its run is asked for as often. */
const STEP_WAITS_MS = 5_000
/** A topic tells of all else; where that is missed, it shows so late. */
const MISSED_MS = 30_000
/** The live feed tells of approvals; this is for what it missed. */
const WAITS_MS = 30_000
const PAGE = 50
/** Of so many approvals it is not said how many more there are. */
const MOST_COUNTED = 99

const given = (filters: object) => Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== '' && value !== false))

/** A page of workflow runs, newest first. */
export function useRuns(filters: () => RunFilters, cursor: MaybeRefOrGetter<string>) {
  useLive(['executions'], [keys.runs()])
  return useQuery({
    queryKey: computed(() => [...keys.runs(), { ...filters() }, toValue(cursor)]),
    queryFn: ({ signal }) => data(client.GET('/api/v1/workflow-runs', {
      params: { query: { ...given(filters()), limit: PAGE, ...(toValue(cursor) && { cursor: toValue(cursor) }) } }, signal,
    })),
    placeholderData: keepPreviousData,
  })
}

/** How often a run is asked for besides: not at all once it is closed. */
function besides(run: WorkflowRunDetail | undefined): number | false {
  if (run?.phase === 'CLOSED') return false
  return run?.steps.some((s) => s.state === 'WAITING' || (s.items?.live ?? 0) > 0) ? STEP_WAITS_MS : MISSED_MS
}

/** One workflow run with its steps. Whatever is on screen of the run is asked for again where it changes. */
export function useRun(id: MaybeRefOrGetter<string>) {
  const key = computed(() => [...keys.run(toValue(id)), 'run'])
  useLive(() => [`workflow-run:${toValue(id)}`, `execution:${toValue(id)}`], () => [keys.run(toValue(id))])
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => data(client.GET('/api/v1/workflow-runs/{id}', { params: { path: { id: toValue(id) } }, signal })),
    refetchInterval: ({ state }) => besides(state.data),
  })
}

/** The root of a run that is not there: it may wait for its start. */
export function useRootOf(id: MaybeRefOrGetter<string>, missing: MaybeRefOrGetter<boolean>) {
  return useQuery({
    queryKey: computed(() => [...keys.run(toValue(id)), 'root']),
    queryFn: ({ signal }) => data(client.GET('/api/v1/executions/{id}', { params: { path: { id: toValue(id) } }, signal })),
    enabled: computed(() => toValue(missing)),
  })
}

/** What a retry of a run does with each step; nothing is asked while there is nothing that it could repeat. */
export function useRetryPlan(id: MaybeRefOrGetter<string>, from: MaybeRefOrGetter<readonly string[]>, asked: MaybeRefOrGetter<boolean>) {
  return useQuery({
    queryKey: computed(() => [...keys.run(toValue(id)), 'retry', ...toValue(from)]),
    queryFn: ({ signal }) => {
      const names = toValue(from).join(',')
      return data(client.GET('/api/v1/workflow-runs/{id}/retry-plan', { params: { path: { id: toValue(id) }, query: names ? { from: names } : {} }, signal }))
    },
    enabled: computed(() => toValue(asked)),
    placeholderData: keepPreviousData,
  })
}

/** Repeats a run as a new one, and answers its id. One key a question, so that a second click starts nothing twice. */
export function useRetryRun() {
  return useChange(async ({ id, from, once }: { id: string; from: string[]; once: string }) => {
    const made = await data(client.POST('/api/v1/workflow-runs/{id}/retry', {
      params: { path: { id }, header: { 'Idempotency-Key': once } }, body: { ...(from.length > 0 && { from }) },
    }))
    return made.executionId
  })
}

/** Whether a failure says that there is no such thing. */
export const isMissing = (failure: unknown) => failure !== null && failure !== undefined && asProblem(failure).status === 404

/** The steps of the version to which a run keeps. A version does not change. */
export function useGraphOf(run: MaybeRefOrGetter<Pick<WorkflowRun, 'workflowId' | 'version'> | undefined>) {
  return useQuery({
    queryKey: computed(() => [...keys.all, 'graph', toValue(run)?.workflowId, toValue(run)?.version]),
    queryFn: ({ signal }) => {
      const { workflowId = '', version } = toValue(run) ?? {}
      return data(client.GET('/api/v1/jobs/{id}/graph', { params: { path: { id: workflowId }, query: { version } }, signal }))
    },
    enabled: computed(() => toValue(run) !== undefined),
    staleTime: Infinity,
  })
}

/** A page of the executions of a step: generations, shards and items. */
export function useStepExecutions(at: () => { run: string; step: string; phase: WorkflowRun['phase'] }, status: MaybeRefOrGetter<Model<'Status'> | ''>, cursor: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => [...keys.run(at().run), 'step', at().step, toValue(status), toValue(cursor)]),
    queryFn: ({ signal }) => {
      const { run, step } = at()
      const query = { step, limit: PAGE, ...given({ status: toValue(status), cursor: toValue(cursor) }) }
      return data(client.GET('/api/v1/workflow-runs/{id}/steps', { params: { path: { id: run }, query }, signal }))
    },
    refetchInterval: () => (at().phase === 'CLOSED' ? false : STEP_WAITS_MS),
    placeholderData: keepPreviousData,
  })
}

/** Why a step stands where it stands; asked for anew when `stand` changes. */
export function useWhyStep(at: () => { run: string; step: string; stand: string }, zone: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => [...keys.run(at().run), 'why', at().step, at().stand, toValue(zone)]),
    queryFn: ({ signal }) => data(client.GET('/api/v1/workflow-runs/{id}/steps/{key}/why', { params: { path: { id: at().run, key: at().step } }, signal })),
    placeholderData: keepPreviousData,
  })
}

export type RunVerb = 'pause' | 'resume' | 'cancel'
export type StepVerb = 'repeat' | 'skip' | 'succeed' | 'cancel'

function useChange<T, Answer>(act: (what: T) => Promise<Answer>) {
  const queries = useQueryClient()
  return useMutation({ mutationFn: act, onSuccess: () => queries.invalidateQueries({ queryKey: keys.all }) })
}

/** Pauses a run, lets it go on, or cancels it. */
export function useRunVerb() {
  return useChange(({ id, verb }: { id: string; verb: RunVerb }) => {
    const params = { params: { path: { id } } }
    switch (verb) {
      case 'pause':
        return data(client.POST('/api/v1/workflow-runs/{id}/pause', params))
      case 'resume':
        return data(client.POST('/api/v1/workflow-runs/{id}/resume', params))
      case 'cancel':
        return data(client.POST('/api/v1/workflow-runs/{id}/cancel', params))
    }
  })
}

/** Decides a step by hand. `once` is the key of the question, so that a second click repeats nothing twice. */
export function useStepVerb() {
  return useChange(({ run, step, verb, once }: { run: string; step: string; verb: StepVerb; once: string }) => {
    const path = { id: run, key: step }
    switch (verb) {
      case 'repeat':
        return data(client.POST('/api/v1/workflow-runs/{id}/steps/{key}/repeat', { params: { path, header: { 'Idempotency-Key': once } } }))
      case 'skip':
        return data(client.POST('/api/v1/workflow-runs/{id}/steps/{key}/skip', { params: { path } }))
      case 'succeed':
        return data(client.POST('/api/v1/workflow-runs/{id}/steps/{key}/succeed', { params: { path } }))
      case 'cancel':
        return data(client.POST('/api/v1/workflow-runs/{id}/steps/{key}/cancel', { params: { path } }))
    }
  })
}

/**
 * How many open approvals wait for the vote of the user. It stands on every page: it asks again when the feed tells of
 * approvals, which is as often as people are asked, and not as often as executions change.
 */
export function useWaiting(asked: MaybeRefOrGetter<boolean>) {
  useLive(() => (toValue(asked) ? ['approvals'] : []), () => [keys.approvals()], { aside: true })
  return useQuery({
    queryKey: [...keys.approvals(), 'waiting'],
    queryFn: async ({ signal }) => {
      const query = { status: 'OPEN' as const, mine: true, limit: MOST_COUNTED }
      const { items, nextCursor } = await data(client.GET('/api/v1/approvals', { params: { query }, signal }))
      return { count: items.filter((a) => a.mayVote).length, more: nextCursor !== null }
    },
    enabled: computed(() => toValue(asked)),
  })
}

/** A page of approvals, newest first. */
export function useApprovals(filters: () => ApprovalFilters, cursor: MaybeRefOrGetter<string>) {
  useLive(['approvals'], [keys.approvals()])
  return useQuery({
    queryKey: computed(() => [...keys.approvals(), { ...filters() }, toValue(cursor)]),
    queryFn: ({ signal }) => data(client.GET('/api/v1/approvals', {
      params: { query: { ...given(filters()), limit: PAGE, ...(toValue(cursor) && { cursor: toValue(cursor) }) } }, signal,
    })),
    refetchInterval: WAITS_MS,
    placeholderData: keepPreviousData,
  })
}

/** The approval of a step. */
export function useApproval(executionId: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => [...keys.approvals(), 'one', toValue(executionId)]),
    queryFn: ({ signal }) => data(client.GET('/api/v1/approvals/{id}', { params: { path: { id: toValue(executionId) } }, signal })),
    refetchInterval: ({ state }) => (state.data && state.data.status !== 'WAITING' ? false : WAITS_MS),
  })
}

export function useVote() {
  return useChange(({ id, decision, comment }: { id: string; decision: Decision; comment: string }) =>
    data(client.POST('/api/v1/approvals/{id}', { params: { path: { id } }, body: { decision, ...(comment && { comment }) } })))
}

export { onceKey }
