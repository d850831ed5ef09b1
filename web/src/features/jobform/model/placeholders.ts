// The placeholders of docs/executors.md: what may be written, and what they may become.
import { momentOf, offsetAt, wallOf } from '@/shared/time/wall'

/** The offered placeholders; the texts are jobform.placeholder.NAME. */
const placeholders = [
  { name: 'time', text: '${scheduledTime}' },
  { name: 'day', text: '${scheduledTime:yyyy-MM-dd}' },
  { name: 'dayBefore', text: '${scheduledTime-1d:yyyy-MM-dd}' },
  { name: 'params', text: '${params}' },
  { name: 'executionId', text: '${executionId}' },
  { name: 'jobName', text: '${jobName}' },
  { name: 'group', text: '${group}' },
  { name: 'attempt', text: '${attempt}' },
  { name: 'shardIndex', text: '${shardIndex}' },
  { name: 'shardTotal', text: '${shardTotal}' },
  { name: 'idempotencyKey', text: '${idempotencyKey}' },
  { name: 'deadline', text: '${deadline}' },
  { name: 'checkpoint', text: '${checkpoint}' },
] as const

export interface Sample {
  /** The planned time of a fire, as the preview has it. */
  time: string
  zone: string
  jobName: string
  group: string
  owner: string
  shardTotal: number
  /** The defaults of the declared parameters. */
  params: Record<string, string>
}

/** Offered by what is typed: those of the list, the declared parameters and the secrets. */
export function offered(params: readonly string[], secrets: readonly string[]): { name: string; text: string }[] {
  return [
    ...placeholders,
    ...params.filter(Boolean).map((p) => ({ name: 'param', text: `\${params.${p}}` })),
    ...secrets.map((s) => ({ name: 'secret', text: `\${secret.${s}}` })),
  ]
}

/** The text of a run at the sample's time. A value known only then stands in ‹angles›. */
export function filled(text: string, sample: Sample): string {
  return text.replace(/\$\$\{|\$\{([^}]*)\}/g, (whole, inner: string | undefined) => {
    if (inner === undefined) return '${'
    return valueOf(inner, sample) ?? whole
  })
}

function valueOf(inner: string, sample: Sample): string | undefined {
  if (inner.startsWith('scheduledTime')) return timeOf(inner.slice('scheduledTime'.length), sample)
  const param = /^params\.([^:]+)(?::-(.*))?$/s.exec(inner)
  if (param) {
    const name = param[1] ?? ''
    return sample.params[name] || param[2] || `‹${name}›`
  }
  if (inner.startsWith('secret.')) return '•••'
  switch (inner) {
    case 'jobName':
      return sample.jobName || '‹jobName›'
    case 'group':
      return sample.group || 'default'
    case 'owner':
      return sample.owner
    case 'attempt':
      return '1'
    case 'shardIndex':
      return '0'
    case 'shardTotal':
      return String(sample.shardTotal)
    case 'params':
      return JSON.stringify(sample.params)
    case 'checkpoint':
      return ''
    case 'executionId':
    case 'jobId':
    case 'idempotencyKey':
    case 'deadline':
      return `‹${inner}›`
  }
  return undefined
}

const units: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

function timeOf(rest: string, sample: Sample): string | undefined {
  const found = /^((?:[+-]\d+[smhdwMy]){0,5})(?::(.+))?$/s.exec(rest)
  if (!found) return undefined
  // Units of the clock move the moment. Those of the calendar move what clocks show, as the server does it.
  const shown = (ms: number) => Date.parse(`${wallOf(ms, sample.zone)}Z`) + (((ms % 1000) + 1000) % 1000)
  let moment = Date.parse(sample.time)
  let wall = shown(moment)
  for (const [, sign, n, unit = ''] of (found[1] ?? '').matchAll(/([+-])(\d+)([smhdwMy])/g)) {
    const by = Number(n) * (sign === '-' ? -1 : 1)
    if ('smh'.includes(unit)) {
      moment += by * (units[unit] ?? 0)
      wall = shown(moment)
      continue
    }
    wall = unit === 'M' || unit === 'y' ? months(wall, unit === 'y' ? by * 12 : by) : wall + by * (units[unit] ?? 0)
    const at = Date.parse(momentOf(new Date(wall).toISOString().slice(0, 19), sample.zone))
    const part = wall % 1000
    moment = shown(at) + part === wall ? at + part : at // behind a gap it is a whole second
  }
  const pattern = found[2]
  if (pattern === undefined) return new Date(moment).toISOString()
  if (pattern === 'epochMs') return String(moment)
  if (pattern === 'epochSec') return String(Math.floor(moment / 1000))
  // A date that no clock showed is the calendar's.
  const day = (ms: number) => Math.floor(ms / 86_400_000)
  return patterned(pattern, new Date(day(wall) === day(shown(moment)) ? shown(moment) : wall), offsetAt(moment, sample.zone))
}

function months(wall: number, by: number): number {
  const d = new Date(wall)
  const first = new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + by, 1))
  const length = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate()
  return first.getTime() + (Math.min(d.getUTCDate(), length) - 1) * 86_400_000 + (wall % 86_400_000)
}

function patterned(pattern: string, wall: Date, offset: number): string {
  const two = (n: number, width = 2) => String(n).padStart(width, '0')
  const start = Date.UTC(wall.getUTCFullYear(), 0, 0)
  const sign = offset < 0 ? '-' : '+'
  const parts: Record<string, () => string> = {
    yyyy: () => two(wall.getUTCFullYear(), 4), yy: () => two(wall.getUTCFullYear() % 100), MM: () => two(wall.getUTCMonth() + 1),
    DDD: () => two(Math.floor((wall.getTime() - start) / 86_400_000), 3), dd: () => two(wall.getUTCDate()), HH: () => two(wall.getUTCHours()),
    mm: () => two(wall.getUTCMinutes()), SSS: () => two(wall.getUTCMilliseconds(), 3), ss: () => two(wall.getUTCSeconds()),
    XXX: () => (offset === 0 ? 'Z' : `${sign}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`),
  }
  return pattern.replace(/'([^']*)'|yyyy|yy|MM|DDD|dd|HH|mm|SSS|ss|XXX/g, (word, quoted: string | undefined) => (quoted === '' ? "'" : quoted) ?? parts[word]?.() ?? word)
}
