import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import { untilFound } from '@/shared/api/search'
import type { Model } from '@/shared/api/types'
import { can } from '@/shared/session/session'
import type { SettingKind, Values } from './kinds'

/** The fields of all definitions; the fields of each kind stand beside. */
export interface Setting extends Values {
  id: string
  name: string
  group: string | null
  enabled: boolean
  version: number
  /** Why it works less than it seems to. */
  warnings?: { field: string; code: 'unknown_job' | 'unknown_group' | 'never_matches'; message: string }[]
}

// The calls of all kinds are alike, so one path stands for the types of all.
type Like = '/api/v1/alert-rules'
const paths: Record<SettingKind, string> = {
  rules: '/api/v1/alert-rules', channels: '/api/v1/alert-channels', silences: '/api/v1/alert-silences', routes: '/api/v1/alert-routes',
  templates: '/api/v1/alert-templates', teams: '/api/v1/teams', contacts: '/api/v1/contacts', 'on-call': '/api/v1/on-call',
}
const all = (kind: SettingKind) => paths[kind] as Like
const one = (kind: SettingKind) => `${paths[kind]}/{id}` as `${Like}/{id}`

/** Definitions of a kind, a page of them. */
export function useSettings(kind: MaybeRefOrGetter<SettingKind>, cursor: MaybeRefOrGetter<string> = '', limit = 100, wanted = true) {
  return useQuery({
    enabled: wanted,
    queryKey: computed(() => ['alert-settings', toValue(kind), 'list', toValue(cursor), limit]),
    queryFn: async ({ signal }) => {
      const at = toValue(cursor)
      const page = await data(client.GET(all(toValue(kind)), { params: { query: { limit, ...(at ? { cursor: at } : {}) } }, signal }))
      return page as unknown as { items: Setting[]; nextCursor: string | null }
    },
  })
}

/** Users for a choice, for those who may see them. */
export function useUserChoice(wanted: boolean) {
  return useQuery({
    queryKey: ['alert-settings', 'users'],
    enabled: wanted && can('user:admin'),
    queryFn: async ({ signal }) => (await data(client.GET('/api/v1/users', { params: { query: { limit: 200 } }, signal })))
      .items.map((u) => ({ id: u.id, name: u.username })),
  })
}

/** Jobs whose name has a part, and those that are chosen already, by what people call them. */
export function useJobChoice(wanted: boolean, part: MaybeRefOrGetter<string>, chosen: MaybeRefOrGetter<readonly string[]>) {
  const key = computed(() => ['alert-settings', 'jobs', toValue(part), [...toValue(chosen)].sort().join()])
  return useQuery({
    queryKey: key,
    enabled: wanted,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const name = toValue(part).trim()
      const { items } = await untilFound((cursor) =>
        data(client.GET('/api/v1/jobs', { params: { query: { limit: 20, ...(name && { name }), ...(cursor && { cursor }) } }, signal })))
      const missing = toValue(chosen).filter((id) => !items.some((job) => job.id === id)).slice(0, 20)
      // A job that is gone is shown by its id.
      const others = await Promise.all(missing.map((id) => data(client.GET('/api/v1/jobs/{id}', { params: { path: { id } }, signal })).catch(() => null)))
      return [...items, ...others.filter((job) => job !== null)].map((job) => ({ id: job.id, name: `${job.group} / ${job.name}` }))
    },
  })
}

/** One definition; none is asked for while there is no id. */
export function useSetting(kind: SettingKind, id: string) {
  return useQuery({
    queryKey: ['alert-settings', kind, 'one', id],
    enabled: id !== '',
    queryFn: async ({ signal }) => (await data(client.GET(one(kind), { params: { path: { id } }, signal }))) as unknown as Setting,
  })
}

/** Makes a definition, or replaces the version that was read. */
export function useSave(kind: SettingKind) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ id, body }: { id: string; body: Values }) => {
      const sent = { body: body as unknown as Model<'RuleBody'> }
      const answer = id ? client.PUT(one(kind), { params: { path: { id } }, ...sent }) : client.POST(all(kind), sent)
      return (await data<unknown>(answer)) as Setting
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['alert-settings', kind] }),
  })
}

export function useDelete(kind: SettingKind) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => data(client.DELETE(one(kind), { params: { path: { id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['alert-settings', kind, 'list'] }),
  })
}

/** Sends a test message, and says how that went. */
export function useChannelTest() {
  return useMutation({ mutationFn: (id: string) => data(client.POST('/api/v1/alert-channels/{id}/test', { params: { path: { id } } })) })
}

/** Asks whether a rule could be saved; keeps nothing. */
export function useValidate() {
  return useMutation({ mutationFn: (body: Values) => data(client.POST('/api/v1/alert-rules/validate', { body: body as unknown as Model<'RuleBody'> })) })
}

/** Asks what a rule would have raised in the past days. */
export function useDryRun() {
  return useMutation({
    mutationFn: ({ rule, days }: { rule: Values; days: number }) => {
      const to = new Date()
      const from = new Date(to.getTime() - days * 86_400_000)
      const body = { rule: rule as unknown as Model<'RuleBody'>, from: from.toISOString(), to: to.toISOString() }
      return data(client.POST('/api/v1/alert-rules/dry-run', { body }))
    },
  })
}

/** Shows what a template makes of a sample alert. */
export function usePreview() {
  return useMutation({
    mutationFn: (body: Values) => data(client.POST('/api/v1/alert-templates/preview', { body: body as Model<'TemplatePreviewBody'> })),
  })
}
