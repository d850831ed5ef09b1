import type { Model } from '@/shared/api/types'

type Job = Model<'Job'>

/** The fields that change for many jobs at once. */
export interface Change {
  priority?: number
  /** Labels that are set, and the names of those that go. */
  set?: Record<string, string>
  remove?: readonly string[]
}

/** The job after a change; the same object where nothing differs. */
export function changed(job: Job, { priority, set, remove }: Change): Job {
  const labels = Object.fromEntries(Object.entries({ ...job.labels, ...set }).filter(([name]) => !remove?.includes(name)))
  const next = { ...job, labels, priority: priority ?? job.priority }
  const same = next.priority === job.priority && JSON.stringify(sorted(labels)) === JSON.stringify(sorted(job.labels))
  return same ? job : next
}

function sorted(labels: Record<string, string>): [string, string][] {
  return Object.entries(labels).sort(([a], [b]) => a.localeCompare(b))
}

/** Labels as people write them, name=value in lines; undefined where a line is none. */
export function labelsOf(text: string): Record<string, string> | undefined {
  const out: Record<string, string> = {}
  for (const line of text.split('\n').map((l) => l.trim()).filter(Boolean)) {
    const at = line.indexOf('=')
    if (at < 1) return undefined
    out[line.slice(0, at).trim()] = line.slice(at + 1).trim()
  }
  return out
}

/** Names, in lines or with commas. */
export function namesOf(text: string): string[] {
  return text.split(/[\n,]/).map((name) => name.trim()).filter(Boolean)
}

/** Does something for each, a few at a time, in order of the results. A failure is a result, too. */
export async function each<In, Out>(all: readonly In[], atOnce: number, act: (one: In) => Promise<Out>, failed: (one: In, failure: unknown) => Out): Promise<Out[]> {
  const out = new Array<Out>(all.length)
  let next = 0
  const work = async () => {
    for (let n = next++; n < all.length; n = next++) {
      const one = all[n] as In
      out[n] = await act(one).catch((failure: unknown) => failed(one, failure))
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, work))
  return out
}
