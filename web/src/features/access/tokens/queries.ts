import { useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'

export type Token = Model<'Token'>
export type Scope = NonNullable<Model<'TokenBody'>['scopes']>[number]

const all = ['access', 'tokens'] as const
const PAGE = 50

/** A page of API tokens: one's own, and for admins those of all. */
export function useTokens(cursor: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => [...all, toValue(cursor)]),
    queryFn: ({ signal }) => {
      const at = toValue(cursor)
      return data(client.GET('/api/v1/tokens', { params: { query: { limit: PAGE, ...(at ? { cursor: at } : {}) } }, signal }))
    },
  })
}

interface TokenInput {
  name: string
  /** Null is all that I may do. */
  scopes: Scope[] | null
  expiresAt: string
}

/** Makes a token for oneself; the answer has it, this once. It is not cached. */
export function useNewToken() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ scopes, ...rest }: TokenInput) => data(client.POST('/api/v1/tokens', { body: { ...rest, ...(scopes ? { scopes } : {}) } })),
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: all }),
  })
}

export function useRevoke() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => data(client.DELETE('/api/v1/tokens/{id}', { params: { path: { id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: all }),
  })
}
