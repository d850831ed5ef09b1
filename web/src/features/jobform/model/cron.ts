// The cron builder's reading of an expression: its fields as texts, and each field as a
// choice that the builder can show. An unknown shape stays a text, never a guess.

import type { Model } from '@/shared/api/types'

export type Dialect = Model<'Schedule'>['dialect']
export type FieldName = 'second' | 'minute' | 'hour' | 'day' | 'month' | 'week' | 'year'
type CronFields = Record<FieldName, string>

/** The choice in a field. Days of the week count 0–6 from Sunday, whatever the dialect writes. */
export type Choice =
  | { mode: 'every' }
  | { mode: 'none' }
  | { mode: 'step'; from: number; step: number }
  | { mode: 'range'; from: number; to: number }
  | { mode: 'list'; values: number[] }
  | { mode: 'last'; before: number }
  | { mode: 'lastWorkday' }
  | { mode: 'workday'; day: number }
  | { mode: 'lastWeek'; day: number }
  | { mode: 'nthWeek'; day: number; nth: number }
  | { mode: 'text'; text: string }
export type Mode = Choice['mode']

const order: Record<Dialect, FieldName[]> = {
  QUARTZ: ['second', 'minute', 'hour', 'day', 'month', 'week', 'year'],
  UNIX: ['minute', 'hour', 'day', 'month', 'week'],
}

export const bounds: Record<FieldName, readonly [number, number]> = {
  second: [0, 59], minute: [0, 59], hour: [0, 23], day: [1, 31], month: [1, 12], week: [0, 6], year: [1970, 2199],
}

const days = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']

/** The fields that a dialect has. */
export function fieldsOf(dialect: Dialect): FieldName[] {
  return order[dialect]
}

/** The modes in which the builder shows a field. */
export function modesOf(field: FieldName, dialect: Dialect): Mode[] {
  const plain: Mode[] = ['every', 'step', 'range', 'list']
  if (field === 'day' && dialect === 'QUARTZ') return [...plain, 'last', 'lastWorkday', 'workday', 'text']
  if (field === 'week') {
    const some: Mode[] = ['every', 'range', 'list']
    return dialect === 'QUARTZ' ? [...some, 'nthWeek', 'lastWeek', 'text'] : [...some, 'text']
  }
  return [...plain, 'text']
}

/** The fields of an expression; undefined where it has another shape, such as @daily. */
export function splitCron(text: string, dialect: Dialect): CronFields | undefined {
  const words = text.trim().split(/\s+/)
  const names = order[dialect]
  if (words.length !== names.length && !(dialect === 'QUARTZ' && words.length === 6)) return undefined
  if (words.some((word) => word === '' || word.startsWith('@'))) return undefined
  const fields: CronFields = { second: '0', minute: '*', hour: '*', day: '*', month: '*', week: '*', year: '' }
  words.forEach((word, i) => (fields[names[i] as FieldName] = word))
  return fields
}

/** The expression of fields. In QUARTZ one of the two day fields becomes "?". */
export function joinCron(fields: CronFields, dialect: Dialect): string {
  const f = { ...fields }
  if (dialect === 'QUARTZ') {
    if (free(f.week)) [f.week, f.day] = ['?', f.day === '?' ? '*' : f.day]
    else if (free(f.day)) f.day = '?'
  } else {
    if (f.day === '?') f.day = '*'
    if (f.week === '?') f.week = '*'
  }
  return order[dialect].map((name) => f[name]).filter((word) => word !== '').join(' ')
}

/** Puts a choice into its field. In QUARTZ a chosen day frees the other day field. */
export function setField(fields: CronFields, name: FieldName, choice: Choice, dialect: Dialect): CronFields {
  const next = { ...fields, [name]: writeChoice(choice, name, dialect) }
  if (dialect === 'QUARTZ') {
    if (name === 'day' && !free(next.day)) next.week = '?'
    if (name === 'week' && !free(next.week)) next.day = '?'
  }
  return next
}

function free(text: string): boolean {
  return text === '*' || text === '?' || text === ''
}

/** One value of a field, as the builder counts; undefined for what is none. */
function valueOf(text: string, field: FieldName, dialect: Dialect): number | undefined {
  const upper = text.toUpperCase()
  if (field === 'week' && days.includes(upper)) return days.indexOf(upper)
  if (field === 'month' && months.includes(upper)) return months.indexOf(upper) + 1
  if (!/^\d{1,4}$/.test(text)) return undefined
  let n = Number(text)
  if (field === 'week') {
    if (dialect === 'QUARTZ') n -= 1
    else if (n === 7) n = 0
  }
  const [low, high] = bounds[field]
  return n >= low && n <= high ? n : undefined
}

function writeValue(n: number, field: FieldName, dialect: Dialect): string {
  if (field === 'week') return dialect === 'QUARTZ' ? String(n + 1) : String(n)
  return String(n)
}

/** Reads one field as a choice. */
export function readChoice(text: string, field: FieldName, dialect: Dialect): Choice {
  const value = (part: string) => valueOf(part, field, dialect)
  const otherwise: Choice = { mode: 'text', text }
  if (text === '*' || text === '') return { mode: 'every' }
  if (text === '?') return { mode: 'none' }
  const known = modesOf(field, dialect)

  if (dialect === 'QUARTZ') {
    const special = field === 'day' ? readDay(text) : field === 'week' ? readWeek(text, value) : undefined
    if (special) return special
  }
  const step = /^(\*|\d+)\/(\d+)$/.exec(text)
  if (step && known.includes('step')) {
    const from = step[1] === '*' ? bounds[field][0] : value(step[1] ?? '')
    const by = Number(step[2])
    return from !== undefined && by > 0 && by <= bounds[field][1] ? { mode: 'step', from, step: by } : otherwise
  }
  const range = /^(\w+)-(\w+)$/.exec(text)
  if (range) {
    const [from, to] = [value(range[1] ?? ''), value(range[2] ?? '')]
    return from !== undefined && to !== undefined ? { mode: 'range', from, to } : otherwise
  }
  const values = text.split(',').map(value)
  if (values.some((v) => v === undefined)) return otherwise
  return { mode: 'list', values: [...new Set(values as number[])].sort((a, b) => a - b) }
}

function readDay(text: string): Choice | undefined {
  if (/^LW$/i.test(text)) return { mode: 'lastWorkday' }
  const last = /^L(?:-(\d{1,2}))?$/i.exec(text)
  if (last) return { mode: 'last', before: Number(last[1] ?? 0) }
  const workday = /^(\d{1,2})W$/i.exec(text)
  return workday && Number(workday[1]) >= 1 && Number(workday[1]) <= 31 ? { mode: 'workday', day: Number(workday[1]) } : undefined
}

function readWeek(text: string, value: (part: string) => number | undefined): Choice | undefined {
  const nth = /^(\w+)#([1-5])$/.exec(text)
  if (nth) {
    const day = value(nth[1] ?? '')
    return day === undefined ? undefined : { mode: 'nthWeek', day, nth: Number(nth[2]) }
  }
  const last = /^(\d|[a-z]{3})L$/i.exec(text)
  const day = last ? value(last[1] ?? '') : undefined
  return day === undefined ? undefined : { mode: 'lastWeek', day }
}

/** Writes a choice as the dialect has it. */
export function writeChoice(choice: Choice, field: FieldName, dialect: Dialect): string {
  const value = (n: number) => writeValue(n, field, dialect)
  switch (choice.mode) {
    case 'every':
      return '*'
    case 'none':
      return dialect === 'QUARTZ' ? '?' : '*'
    case 'step':
      if (dialect === 'UNIX' && choice.from === bounds[field][0]) return `*/${choice.step}`
      // Vixie's cron knows a step behind a range alone.
      return dialect === 'UNIX' ? `${value(choice.from)}-${value(bounds[field][1])}/${choice.step}` : `${value(choice.from)}/${choice.step}`
    case 'range':
      return `${value(choice.from)}-${value(choice.to)}`
    case 'list':
      return choice.values.length === 0 ? '*' : choice.values.map(value).join(',')
    case 'last':
      return choice.before === 0 ? 'L' : `L-${choice.before}`
    case 'lastWorkday':
      return 'LW'
    case 'workday':
      return `${choice.day}W`
    case 'lastWeek':
      return `${value(choice.day)}L`
    case 'nthWeek':
      return `${value(choice.day)}#${choice.nth}`
    case 'text':
      return choice.text
  }
}

/** The choice with which a mode begins. */
export function startOf(mode: Mode, field: FieldName, text: string): Choice {
  const [low, high] = bounds[field]
  switch (mode) {
    case 'step':
      return { mode, from: low, step: field === 'hour' ? 2 : field === 'day' ? 2 : field === 'month' ? 3 : 5 }
    case 'range':
      return field === 'week' ? { mode, from: 1, to: 5 } : field === 'hour' ? { mode, from: 9, to: 17 } : { mode, from: low, to: high }
    case 'list':
      return { mode, values: [field === 'week' ? 1 : low] }
    case 'last':
      return { mode, before: 0 }
    case 'workday':
      return { mode, day: 15 }
    case 'lastWeek':
      return { mode, day: 5 }
    case 'nthWeek':
      return { mode, day: 1, nth: 1 }
    case 'text':
      return { mode, text: text === '?' ? '*' : text }
    default:
      return { mode } as Choice
  }
}

/** The same expression in the other dialect; undefined where the other one cannot say it. */
export function translate(text: string, from: Dialect, to: Dialect): string | undefined {
  if (from === to || text.trim().startsWith('@')) return text
  const fields = splitCron(text, from)
  if (!fields) return undefined
  if (to === 'UNIX' && (fields.second !== '0' || !free(fields.year))) return undefined
  // A day of the month or of the week: only UNIX says both.
  if (to === 'QUARTZ' && !free(fields.day) && !free(fields.week)) return undefined
  const out = { ...fields, second: '0', year: '' }
  for (const name of order.UNIX) {
    const choice = readChoice(fields[name], name, from)
    if (choice.mode === 'text' && (to === 'UNIX' || name === 'week')) return undefined
    if (to === 'UNIX' && !modesOf(name, to).includes(choice.mode) && choice.mode !== 'none') return undefined
    if (to === 'UNIX' && choice.mode === 'range' && choice.from > choice.to) return undefined
    out[name] = writeChoice(choice, name, to)
  }
  return joinCron(out, to)
}
