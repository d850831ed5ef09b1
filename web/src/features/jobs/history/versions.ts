import { documentOf, type Body } from '@/shared/text/yaml'
import type { Version } from './queries'

/** Fields of a stored version that no person set. */
const served = [
  'id', 'status', 'nextFireTime', 'lastFireTime', 'version', 'createTime', 'updateTime', 'unreadable', 'pausedBy', 'pausedAt', 'pausedUntil',
  'pauseReason', 'pauseUser', 'warnings',
]

type Definition = Version['definition']

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
}

/** Maps whose keys are people's own: there an empty text says something. */
const free = ['jobData', 'labels']

/** The definition as people write it: without what the server adds, and without what is empty. */
export function written(definition: Definition): Body {
  const lean = (from: Record<string, unknown>): Body =>
    Object.fromEntries(Object.entries(from).map(([k, v]) => [k, isMap(v) && !free.includes(k) ? lean(v) : v]).filter(([, v]) => !isEmpty(v))) as Body
  return lean(Object.fromEntries(Object.entries(definition).filter(([name]) => !served.includes(name))))
}

/** The document of a version, as the export writes it. */
export function yamlOf(definition: Definition): string {
  return documentOf(written(definition))
}

/**
 * The fields that differ, by their paths such as schedule.timeZone: before and after. `also` are fields of the server
 * that count here.
 */
export function changesOf(before: Definition, after: Definition, also: readonly (keyof Definition)[] = []): Record<string, [unknown, unknown]> {
  const out: Record<string, [unknown, unknown]> = {}
  const compare = (path: string, a: unknown, b: unknown): void => {
    if (isMap(a) || isMap(b)) {
      const [x, y] = [isMap(a) ? a : {}, isMap(b) ? b : {}]
      for (const key of new Set([...Object.keys(x), ...Object.keys(y)])) compare(path ? `${path}.${key}` : key, x[key], y[key])
    } else if (JSON.stringify(a) !== JSON.stringify(b) && (!(isEmpty(a) && isEmpty(b)) || free.some((name) => path.startsWith(`${name}.`)))) {
      out[path] = [a, b]
    }
  }
  compare('', written(before), written(after))
  for (const field of also) compare(field, before[field], after[field])
  return out
}

/** The two versions that an address names, the older one first; the newest and the one before where it names none that are known. */
export function pairOf(known: readonly number[], from: number, to: number): [number, number] | undefined {
  const [newest] = known
  if (newest === undefined) return undefined
  const b = known.includes(to) ? to : newest
  const before = known.find((n) => n < b)
  const a = known.includes(from) && from !== b ? from : before ?? known.find((n) => n > b)
  return a === undefined ? undefined : [Math.min(a, b), Math.max(a, b)]
}
