// The changes of somebody else while the form was open.
import type { Body } from './body'

type Value = Body[string]
export interface Difference { field: string; before: string; theirs: string; mine: string; clash: boolean }

function flat(value: Value | undefined, path: string, out: Map<string, string>): Map<string, string> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const [key, v] of Object.entries(value)) flat(v, path === '' ? key : `${path}.${key}`, out)
  } else if (value !== undefined) out.set(path, typeof value === 'string' ? value : JSON.stringify(value))
  return out
}

/** The fields that are different there; `clash` where the form changed them too, to something else. */
export function differences(before: Body, theirs: Body, mine: Body): Difference[] {
  const [b, t, m] = [before, theirs, mine].map((body) => flat(body, '', new Map<string, string>())) as [Map<string, string>, Map<string, string>, Map<string, string>]
  return [...new Set([...b.keys(), ...t.keys()])].filter((field) => b.get(field) !== t.get(field)).sort().map((field) => {
    const [was, there, here] = [b.get(field) ?? '', t.get(field) ?? '', m.get(field) ?? '']
    return { field, before: was, theirs: there, mine: here, clash: here !== was && here !== there }
  })
}

/** The form with what was changed there alone: what was changed here stays. Lists are one value. */
export function merged<T extends object>(before: T, theirs: T, mine: T): T {
  const out: Record<string, unknown> = {}
  for (const key of Object.keys(theirs) as (keyof T & string)[]) {
    const [b, t, m] = [before[key], theirs[key], mine[key]]
    if (isRecord(b) && isRecord(t) && isRecord(m)) out[key] = merged(b, t, m)
    else out[key] = JSON.stringify(m) === JSON.stringify(b) ? t : m
  }
  return out as T
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
