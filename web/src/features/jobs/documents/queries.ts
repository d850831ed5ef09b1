import { useMutation, useQueryClient } from '@tanstack/vue-query'
import { client, data } from '@/shared/api/client'
import { Problem } from '@/shared/api/problem'
import type { Model, Query } from '@/shared/api/types'
import { documentOf, type Body } from '@/shared/text/yaml'
import type { Job } from '../queries'
import type { Part } from './cut'
import { merged } from './plan'

export type Import = Model<'Import'>

/** A document in the parts in which it is sent. */
interface Order {
  parts: Part[]
  dryRun: boolean
  prune: boolean
  /** Hears after each part how many jobs are done, and what became of them; says whether to go on. */
  told?: (done: number, sum: Import) => boolean
}

/** Sends a document; `dryRun` says what it would do. The first part that is refused ends it. */
export function useImport() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ parts, dryRun, prune, told }: Order): Promise<Import | undefined> => {
      let sum: Import | undefined
      let done = 0
      for (const { text, jobs } of parts) {
        sum = merged(sum, await send(text, dryRun, prune).catch((failure) => Promise.reject(inWhole(failure, done))))
        done += jobs
        if (told?.(done, sum) === false) break
      }
      return sum
    },
    onSettled: (_, __, { dryRun }) => (dryRun ? undefined : queries.invalidateQueries()),
  })
}

function send(text: string, dryRun: boolean, prune: boolean): Promise<Import> {
  return data(client.POST('/api/v1/import', {
    params: { query: { dryRun, prune } }, body: text as unknown as Model<'DocumentBody'>,
    headers: { 'Content-Type': 'application/yaml' }, bodySerializer: () => text,
  }))
}

/** The problem with a part, its jobs counted as in the whole document. */
function inWhole(failure: unknown, before: number): unknown {
  if (!(failure instanceof Problem)) return failure
  const fields = failure.fields.map((f) => ({ ...f, field: f.field.replace(/^jobs\[(\d+)\]/, (_, n) => `jobs[${Number(n) + before}]`) }))
  return new Problem(failure.status, failure.code, failure.detail, fields, failure.requestId, failure.retryAfter)
}

/** What an export has: jobs with their groups, alert settings, or both. */
export type Content = NonNullable<Query<'/api/v1/export'>['parts']>

/** The document of all groups, or of one, as a text. */
export async function exportDocument(group: string, parts: Content): Promise<string> {
  const answer = client.GET('/api/v1/export', { params: { query: { format: 'yaml', parts, ...(group && { group }) } }, parseAs: 'text' })
  return (await answer).data as unknown as string
}

/** The document of these jobs: what the export says of their groups, without the others. */
export async function exportThese(jobs: readonly Pick<Job, 'name' | 'group'>[]): Promise<string> {
  const found: Body[] = []
  for (const group of new Set(jobs.map((job) => job.group))) {
    const document = (await data(client.GET('/api/v1/export', { params: { query: { format: 'json', group } } }))) as unknown as { jobs: Body[] }
    found.push(...document.jobs.filter(({ name }) => jobs.some((job) => job.group === group && job.name === name)))
  }
  return documentOf(...found)
}
