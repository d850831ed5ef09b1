import { useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'

export type Secret = Model<'Secret'>

const all = ['access', 'secrets'] as const
const PAGE = 50

/** A page of secrets by name. Their values never leave the server. */
export function useSecrets(cursor: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => [...all, 'list', toValue(cursor)]),
    queryFn: ({ signal }) => {
      const at = toValue(cursor)
      return data(client.GET('/api/v1/secrets', { params: { query: { limit: PAGE, ...(at ? { cursor: at } : {}) } }, signal }))
    },
  })
}

/** Jobs that name a secret, while somebody asks about it. */
export function useUses(name: MaybeRefOrGetter<string>, wanted: MaybeRefOrGetter<boolean>) {
  return useQuery({
    queryKey: computed(() => [...all, 'uses', toValue(name)]),
    queryFn: ({ signal }) => data(client.GET('/api/v1/secrets/{name}/uses', { params: { path: { name: toValue(name) } }, signal })),
    enabled: computed(() => toValue(wanted) && toValue(name) !== ''),
    // A deletion is decided by it.
    staleTime: 0,
  })
}

interface SecretEdit {
  name: string
  description: string
  /** Null is every group. */
  groups: string[] | null
  /** Empty leaves the value of an edit as it is. */
  value: string
  /** The version that was read; none makes a secret. */
  version?: number
  /** Takes it from jobs that name it, too. */
  force?: boolean
}

/** Makes a secret, or changes the version that was read. */
export function useSaveSecret() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ name, version, value, force, ...rest }: SecretEdit) => {
      if (version === undefined) return data(client.POST('/api/v1/secrets', { body: { name, value, ...rest } }))
      // Empty groups are every group here; without the field they would stay as they are.
      const body = { ...rest, groups: rest.groups ?? [], version, ...(value ? { value } : {}), ...(force ? { force } : {}) }
      return data(client.PUT('/api/v1/secrets/{name}', { params: { path: { name } }, body }))
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: all }),
  })
}

export function useDeleteSecret() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (name: string) => data(client.DELETE('/api/v1/secrets/{name}', { params: { path: { name } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: all }),
  })
}
