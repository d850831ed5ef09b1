import type { Model } from '@/shared/api/types'
import { momentOf, wallOf } from '@/shared/time/wall'

type Declared = Model<'JobParameter'>

/** The first value of a field: the default of the parameter. Moments are times of the wall in the zone. */
function first({ type, default: value }: Declared, zone: string): string {
  if (value === null || value === undefined) return ''
  if (type === 'DATETIME' && !Number.isNaN(Date.parse(String(value)))) return wallOf(String(value), zone)
  return String(value)
}

/** The first values of fields: the defaults of the parameters that the job declares. */
export function defaults(declared: readonly Declared[], zone: string): Record<string, string> {
  return Object.fromEntries(declared.map((p) => [p.name, first(p, zone)]))
}

/** The params that are sent: values of the declared types. An empty field is left out; the server judges the rest. */
export function typed(declared: readonly Declared[], texts: Record<string, string | null>, zone: string): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const { name, type } of declared) {
    const text = texts[name] ?? ''
    if (text === '') continue
    const isNumber = (type === 'INTEGER' || type === 'NUMBER') && text.trim() !== '' && Number.isFinite(Number(text))
    if (isNumber) out[name] = Number(text)
    else if (type === 'BOOLEAN' && (text === 'true' || text === 'false')) out[name] = text === 'true'
    else if (type === 'DATETIME') out[name] = momentOf(text, zone) || text
    else out[name] = text
  }
  return out
}

/** Params that somebody wrote as JSON; undefined where it is no object. */
export function parsed(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
