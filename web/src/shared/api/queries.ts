import { QueryClient } from '@tanstack/vue-query'
import { Problem } from './problem'

/** The cache of what the server said, and when it asks again. */
export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The live feed tells of changes; this is for what it missed.
        staleTime: 10_000,
        gcTime: 5 * 60_000,
        retry: (failures, failure) => failures < 2 && failure instanceof Problem && failure.passing && failure.status !== 429,
        retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 4_000) * (0.5 + Math.random()),
        refetchOnWindowFocus: true,
        refetchOnReconnect: true,
        // The browser's word on the network says nothing about a server on this machine.
        networkMode: 'always',
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
}
