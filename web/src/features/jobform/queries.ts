import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { computed, type Ref } from 'vue'
import { client, data, onceKey, tagged } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import { can } from '@/shared/session/session'
import { languageNow } from '@/shared/text'
import type { Body } from './model/body'

/** A job with the tag of what was read, for the edit that must find it so. */
export interface TaggedJob { body: Model<'Job'>; etag: string }

export async function readJob(id: string): Promise<TaggedJob> {
  return tagged(client.GET('/api/v1/jobs/{id}', { params: { path: { id } } }))
}

/** The job that is edited or copied: read once, since the form is not to change below one's hands. */
export function useJobOnce(id: Ref<string>) {
  return useQuery({
    queryKey: computed(() => ['jobform', 'job', id.value]),
    queryFn: () => readJob(id.value),
    enabled: computed(() => id.value !== ''),
    staleTime: Infinity, gcTime: 0, refetchOnWindowFocus: false, refetchOnReconnect: false,
  })
}

/** The newest version with its author, for the words about a conflict. */
export async function newestVersion(id: string): Promise<Model<'JobVersion'> | undefined> {
  const page = await data(client.GET('/api/v1/jobs/{id}/versions', { params: { path: { id }, query: { limit: 1 } } }))
  return page.items[0]
}

/** Makes or replaces a job. The server judges the fields: the form sends them as they are. */
export function useSave() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, etag, body }: { id: string; etag: string; body: Body }): Promise<Model<'Job'>> =>
      id === ''
        ? data(client.POST('/api/v1/jobs', { body: body as unknown as Model<'JobBody'>, params: { header: { 'Idempotency-Key': onceKey() } } }))
        : data(client.PUT('/api/v1/jobs/{id}', {
          body: body as unknown as Model<'JobChangeBody'>, params: { path: { id }, header: { 'If-Match': etag } },
        })),
    onSuccess: () => queries.invalidateQueries({ predicate: (q) => q.queryKey[0] !== 'jobform' }),
  })
}

/** Runs a draft once. Nothing is stored, so no list is asked anew; the run ends when the call is given up. */
export function runTrial(body: Body, signal: AbortSignal): Promise<Model<'JobTrial'>> {
  return data(client.POST('/api/v1/jobs/trial', { body: body as unknown as Model<'TrialBody'>, signal }))
}

/** What the server says of a workflow that is being written. */
export async function checkWorkflow(body: Body, signal: AbortSignal): Promise<Model<'WorkflowCheck'> | undefined> {
  const { items } = await data(client.POST('/api/v1/workflows/validate', { body: body as unknown as Model<'WorkflowBody'>, signal }))
  return items[0]
}

/** Sends a document; `dryRun` says what it would do. */
export function useImport() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ yaml, dryRun }: { yaml: string; dryRun: boolean }) =>
      data(client.POST('/api/v1/import', {
        params: { query: { dryRun } }, body: yaml as unknown as Model<'DocumentBody'>,
        headers: { 'Content-Type': 'application/yaml' }, bodySerializer: () => yaml,
      })),
    onSuccess: (_, { dryRun }) => (dryRun ? undefined : queries.invalidateQueries({ predicate: (q) => q.queryKey[0] !== 'jobform' })),
  })
}

/** The next fires of a schedule that is not stored. */
export function usePreview(schedule: Ref<Body | undefined>, count = 30) {
  const key = computed(() => JSON.stringify(schedule.value ?? null))
  return useQuery({
    queryKey: computed(() => ['jobform', 'preview', key.value, count, languageNow()]),
    queryFn: ({ signal }) => data(client.POST('/api/v1/schedules/preview', {
      params: { query: { lang: languageNow() === 'zh-CN' ? 'zh' : 'en' } },
      body: { schedule: schedule.value as Model<'PreviewScheduleBody'>, count }, signal,
    })),
    enabled: computed(() => schedule.value !== undefined),
    placeholderData: keepPreviousData, staleTime: 30_000, gcTime: 60_000,
  })
}

/** The handlers of live nodes. */
export function useHandlers() {
  return useQuery({
    queryKey: ['jobform', 'handlers'],
    queryFn: async ({ signal }) => (await data(client.GET('/api/v1/handlers', { signal }))).items,
  })
}

export function useChannelNames() {
  return useQuery({
    queryKey: ['jobform', 'channels'],
    queryFn: async ({ signal }) =>
      (await data(client.GET('/api/v1/alert-channels', { params: { query: { limit: 200 } }, signal }))).items.map((c) => c.name),
    enabled: can('alert:read'),
  })
}

export function useSecretNames() {
  return useQuery({
    queryKey: ['jobform', 'secrets'],
    queryFn: async ({ signal }) => (await data(client.GET('/api/v1/secrets', { params: { query: { limit: 200 } }, signal }))).items.map((s) => s.name),
    enabled: can('secret:read'),
  })
}
