// Queries that several features share.
import { useQuery } from '@tanstack/vue-query'
import { client, data } from '@/shared/api/client'

/** The key of everything about groups: a change of a group makes it stale. */
export const groupsKey = ['groups'] as const

/** How many names a choice offers; another one may be typed. */
const CHOICE = 200

/** The names of the groups that the user sees, for a choice. */
export function useGroupNames(wanted = true) {
  return useQuery({
    queryKey: [...groupsKey, 'names'],
    enabled: wanted,
    queryFn: async ({ signal }) => {
      const { items } = await data(client.GET('/api/v1/groups', { params: { query: { limit: CHOICE } }, signal }))
      return items.map((group) => group.name)
    },
  })
}
