import { useMutation, useQuery, useQueryClient } from '@tanstack/vue-query'
import { client, data } from '@/shared/api/client'

const sessions = ['access', 'sessions'] as const

/** One's own sign-ins that go on, latest first. */
export function useSessions() {
  return useQuery({ queryKey: sessions, queryFn: ({ signal }) => data(client.GET('/api/v1/auth/sessions', { signal })) })
}

/** Ends all of them but this one. */
export function useEndOthers() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => data(client.DELETE('/api/v1/auth/sessions')),
    onSuccess: () => queries.invalidateQueries({ queryKey: sessions }),
  })
}
