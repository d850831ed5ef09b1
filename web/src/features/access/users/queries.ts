import { useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { computed, toValue, type MaybeRefOrGetter } from 'vue'
import { client, data } from '@/shared/api/client'
import type { Model } from '@/shared/api/types'
import { can } from '@/shared/session/session'

export type User = Model<'User'>
export type Role = Model<'Role'>
type Change = Model<'UserChangeBody'>

const all = ['access', 'users'] as const
const PAGE = 50
const MOST = 200

/** A page of users, the oldest first. */
export function useUsers(cursor: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => [...all, 'list', toValue(cursor)]),
    queryFn: ({ signal }) => {
      const at = toValue(cursor)
      return data(client.GET('/api/v1/users', { params: { query: { limit: PAGE, ...(at ? { cursor: at } : {}) } }, signal }))
    },
  })
}

/** The first users by their ids, for who may see them; others are shown by their id. */
export function useUserNames() {
  const query = useFirstUsers()
  return { data: computed(() => query.data.value && Object.fromEntries(query.data.value.items.map((u) => [u.id, u.username]))) }
}

/** The id of the only admin, where it is known that there is no other. */
export function useLastAdmin() {
  const query = useFirstUsers()
  return computed(() => {
    const page = query.data.value
    if (!page || page.nextCursor) return undefined
    const admins = page.items.filter((u) => u.role === 'admin')
    return admins.length === 1 ? admins[0]?.id : undefined
  })
}

function useFirstUsers() {
  return useQuery({
    queryKey: [...all, 'first'],
    queryFn: ({ signal }) => data(client.GET('/api/v1/users', { params: { query: { limit: MOST } }, signal })),
    enabled: computed(() => can('user:admin')),
  })
}

export function useUser(id: MaybeRefOrGetter<string>) {
  return useQuery({
    queryKey: computed(() => [...all, 'one', toValue(id)]),
    queryFn: ({ signal }) => data(client.GET('/api/v1/users/{id}', { params: { path: { id: toValue(id) } }, signal })),
  })
}

export function useNewUser() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: Model<'UserBody'>) => data(client.POST('/api/v1/users', { body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: all }),
  })
}

/** Replaces role and rights, and the password where one is given. */
export function useChangeUser() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, body }: { id: string; body: Change }) => data(client.PUT('/api/v1/users/{id}', { params: { path: { id } }, body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: all }),
  })
}

/** Ends the sessions of a user, who may sign in again. */
export function useEndSessions() {
  return useMutation({
    mutationFn: (id: string) => data(client.DELETE('/api/v1/users/{id}/sessions', { params: { path: { id } } })),
  })
}

export function useDeleteUser() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => data(client.DELETE('/api/v1/users/{id}', { params: { path: { id } } })),
    onSuccess: (_, id) => {
      queries.removeQueries({ queryKey: [...all, 'one', id] })
      return queries.invalidateQueries({ queryKey: all })
    },
  })
}
