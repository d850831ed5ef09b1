import { namesOf } from '@/shared/api/names'
import type { Model, Permission } from '@/shared/api/types'
import { levels, ruleForms, ruleTypes, type RulePart } from '../alert'
import { channelFields } from './channels'

/** The kind of a field of a form; `secret` and `secrets` (one a line) are written and never read. */
export type FieldKind =
  | 'text' | 'number' | 'switch' | 'choice' | 'lines' | 'map' | 'long' | 'json' | 'secret' | 'secrets' | 'channels' | 'moment'
  | 'group' | 'groups' | 'jobs' | 'user' | 'users' | 'reference'

/** The value of a secret that shall be removed; one that is empty stays as it is. */
export const REMOVED = null

/** A field; its name is its path in the body, as the server names it in errors. */
export interface Field {
  name: string
  kind: FieldKind
  required?: boolean
  options?: readonly string[]
  /** The kind of definition that a reference names by its id. */
  of?: SettingKind
  /** Set when it is made, and for good. */
  fixed?: boolean
}

export const kinds = ['rules', 'channels', 'silences', 'routes', 'templates', 'teams', 'contacts', 'on-call'] as const
export type SettingKind = (typeof kinds)[number]

const text = (name: string, required = false): Field => ({ name, kind: 'text', required })
const number = (name: string): Field => ({ name, kind: 'number' })
const lines = (name: string): Field => ({ name, kind: 'lines' })
const map = (name: string): Field => ({ name, kind: 'map' })
const flag = (name: string): Field => ({ name, kind: 'switch' })
const choice = (name: string, options: readonly string[], fixed = false): Field => ({ name, kind: 'choice', options, fixed, required: fixed })
const moment = (name: string, required = false): Field => ({ name, kind: 'moment', required })
const reference = (name: string, of: SettingKind): Field => ({ name, kind: 'reference', of })
const group: Field = { name: 'group', kind: 'group', fixed: true }

export const channelTypes = namesOf(channelFields)

function rule(type: string): Field[] {
  const parts: readonly string[] = Object.entries(ruleForms).find(([name]) => name === type)?.[1] ?? []
  const has = (part: RulePart) => parts.includes(part)
  return [
    choice('type', ruleTypes.filter((k) => k !== 'DELIVERY_FAILED'), true), choice('level', levels),
    ...(has('expression') ? [{ name: 'expression', kind: 'long', required: true } as const] : []),
    ...(has('threshold') ? [number('threshold')] : []),
    ...(has('window') ? [number('windowSec')] : []),
    ...(has('level') ? [number('forSec'), number('keepSec')] : [choice('notify', namesOf<Model<'alert.Notify'>>({ FIRST: true, EACH: true })), ...(has('stands') ? [] : [number('resolveAfterSec')])]),
    ...(has('cluster') ? [] : [group, { name: 'scope.groups', kind: 'groups' } as const]),
    ...(has('cluster') || has('groups') ? [] : [{ name: 'scope.jobIds', kind: 'jobs' } as const, map('scope.labels')]),
    ...(has('steps') ? [flag('scope.steps')] : []),
    { name: 'channelIds', kind: 'channels' }, map('labels'), { name: 'actions', kind: 'json' },
  ]
}

/** The fields of a kind; those of rules and channels depend on the type. */
export function fieldsOf(kind: SettingKind, type: string): Field[] {
  const own: Record<SettingKind, () => Field[]> = {
    rules: () => rule(type),
    channels: () => [choice('type', channelTypes, true), choice('language', namesOf<NonNullable<Model<'ChannelBody'>['language']>>({ en: true, zh: true })), group, ...(Object.entries(channelFields).find(([name]) => name === type)?.[1] ?? [])],
    silences: () => [{ name: 'match', kind: 'map', required: true }, moment('from'), moment('to', true), text('comment'), group],
    routes: () => [
      number('position'), map('match'), { name: 'channelIds', kind: 'channels' }, flag('continue'), lines('groupBy'), number('groupWaitSec'),
      number('groupIntervalSec'), number('repeatSec'), number('escalateAfterSec'), { name: 'escalateTo', kind: 'channels' },
      reference('onCallId', 'on-call'), reference('templateId', 'templates'), group,
    ],
    templates: () => [
      ...['title', 'text', 'markdown', 'html'].flatMap((part) => ['en', 'zh'].map((l): Field => ({ name: `${part}.${l}`, kind: 'long' }))), group,
    ],
    teams: () => [{ name: 'members', kind: 'users' }, { name: 'channelIds', kind: 'channels' }, group],
    contacts: () => [{ name: 'userId', kind: 'user', required: true }, text('email'), text('phone'), text('chatId'), group],
    'on-call': () => [text('timeZone', true), { name: 'shifts', kind: 'json', required: true }, group],
  }
  return [{ name: 'name', kind: 'text', required: kind !== 'silences' }, ...own[kind](), flag('enabled')]
}

/** The key of the word for a field. */
export function titleOf(field: Field): string {
  return field.kind === 'moment' ? `alerts.moment.${field.name}` : `alerts.field.${field.name.replace(/^config\./, '').replace('.', '_')}`
}

export function writePermission(kind: SettingKind): Permission {
  return kind === 'channels' ? 'channel:write' : 'alert:write'
}

export type Values = Record<string, unknown>

function read(from: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => (typeof at === 'object' && at !== null ? (at as Values)[name] : undefined), from)
}

const lists: readonly FieldKind[] = ['channels', 'groups', 'jobs', 'users']

/** What the form of a new object proposes. A flood of one cause is one message a group. */
export const proposed: Values = { level: 'WARNING', language: 'en', notify: 'FIRST', timeZone: 'UTC', groupBy: ['group', 'alertname'] }

/** The values of a form from an object of the server. Secrets are never there. */
export function valuesOf(fields: readonly Field[], from: unknown): Values {
  const values: Values = {}
  for (const { name, kind } of fields) {
    const value = read(from, name)
    if (kind === 'lines') values[name] = Array.isArray(value) ? value.join('\n') : ''
    else if (lists.includes(kind)) values[name] = Array.isArray(value) ? value : []
    else if (kind === 'map') values[name] = Object.entries((value ?? {}) as Values).map(([k, v]) => `${k}=${String(v)}`).join('\n')
    else if (kind === 'json') values[name] = value === undefined || value === null ? '[]' : JSON.stringify(value, null, 2)
    else if (kind === 'secret' || kind === 'secrets') values[name] = ''
    else values[name] = value ?? (name === 'enabled' ? true : undefined)
  }
  return values
}

function written(kind: FieldKind, value: unknown): unknown {
  const rows = () => String(value ?? '').split('\n').map((row) => row.trim()).filter(Boolean)
  switch (kind) {
    case 'lines':
    case 'secrets':
      return rows()
    case 'map':
      return Object.fromEntries(rows().map((row) => {
        const at = row.indexOf('=')
        return at < 0 ? [row, ''] : [row.slice(0, at).trim(), row.slice(at + 1).trim()]
      }))
    case 'json':
      return JSON.parse(String(value || '[]'))
    default:
      return value
  }
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
}

/** The body of values. An empty value is left out: it is at its default, and a secret stays as it is. */
export function bodyOf(fields: readonly Field[], values: Values): Values {
  // Without any configuration the server keeps the one that it has, also what was cleared.
  const body: Values = fields.some((f) => f.name.startsWith('config.')) ? { config: {} } : {}
  for (const { name, kind } of fields) {
    const secret = kind === 'secret' || kind === 'secrets'
    const removed = secret && values[name] === REMOVED
    const value = removed ? (kind === 'secrets' ? [] : '') : written(kind, values[name])
    if (isEmpty(value) && !removed) continue
    const path = name.split('.')
    const last = path.pop() ?? name
    const owner = path.reduce<Values>((at, part) => (at[part] ??= {}) as Values, body)
    owner[last] = value
  }
  return body
}
