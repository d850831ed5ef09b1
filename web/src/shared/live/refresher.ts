import type { QueryClient, QueryKey } from '@tanstack/vue-query'

const SPREAD_MS = 500
const LEAST_MS = 1_000

/**
 * Refresher asks again for what is on screen: after 0–500 ms, so that a thousand browsers
 * do not ask at once, and at most once a second a query. A query under way is left to end.
 */
export class Refresher {
  private readonly last = new Map<string, number>()
  private readonly waiting = new Map<string, ReturnType<typeof setTimeout>>()

  constructor(private readonly queries: QueryClient) {}

  changed(key: QueryKey): void {
    const name = JSON.stringify(key)
    if (this.waiting.has(name)) return
    const since = Date.now() - (this.last.get(name) ?? 0)
    this.after(name, key, Math.max(Math.random() * SPREAD_MS, LEAST_MS - since))
  }

  private after(name: string, key: QueryKey, ms: number): void {
    this.waiting.set(name, setTimeout(() => {
      if (this.queries.isFetching({ queryKey: key, type: 'active' }) > 0) {
        this.after(name, key, SPREAD_MS)
        return
      }
      this.waiting.delete(name)
      this.last.set(name, Date.now())
      void this.queries.invalidateQueries({ queryKey: key })
    }, ms))
  }
}
