// Each field of the API's body of a job is in the form: it is read, written, has a section and a control.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hasText } from '@/shared/text'
import { storedJob } from '@/test/job'
import { wordOf } from '../parts/context'
import { bodyOf } from './body'
import { formOf, type Job } from './job'
import { sectionOf } from './sections'

/** Fields that the form leaves alone, as TYPE path, with the reason. */
const leftAlone: Record<string, string> = {
  'HTTP jobClass': 'a handler is of CUSTOM jobs alone',
  'COMMAND jobClass': 'a handler is of CUSTOM jobs alone',
}
/** Fields whose control is a part of another one, with the attribute that binds them. */
const inside: Record<string, { of: string; by: string }> = {
  'schedule.dialect': { of: 'schedule.cronExpression', by: 'v-model:dialect="s.dialect"' },
}

interface Schema {
  $ref?: string
  allOf?: Schema[]
  anyOf?: Schema[]
  type?: string
  enum?: unknown[]
  default?: unknown
  minimum?: number
  readOnly?: boolean
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  items?: Schema
}
const { components } = JSON.parse(readFileSync('../api/openapi/openapi.json', 'utf8')) as { components: { schemas: Record<string, Schema> } }

/** A schema with those that it names in their place. */
function whole(schema: Schema): Schema {
  const named = schema.$ref?.split('/').at(-1)
  return [named ? components.schemas[named] ?? {} : {}, ...(schema.allOf ?? []), ...(schema.anyOf?.filter((one, _, all) => one === (all.find((o) => o.$ref) ?? all[0])) ?? [])].reduce<Schema>(
    (all, part) => ({ ...(part === all ? part : part.$ref || part.allOf ? whole(part) : part), ...all }), schema)
}

/** The fields below a schema that a caller may set, by their paths. */
function fieldsOf(schema: Schema, path: string): [string, Schema][] {
  const { properties, items, ...own } = whole(schema)
  if (properties) return Object.entries(properties).filter(([, of]) => !of.readOnly).flatMap(([name, of]) => fieldsOf(of, path ? `${path}.${name}` : name))
  if (items && whole(items).properties) return fieldsOf(items, `${path}[0]`)
  return [[path, { ...own, items }]]
}

const bodies = { HTTP: 'HTTPJobBody', COMMAND: 'CommandJobBody', CUSTOM: 'CustomJobBody' } as const
type Type = keyof typeof bodies
const all = Object.entries(bodies).flatMap(([type, name]) => fieldsOf({ $ref: name }, '').map(([path, schema]) => ({ type: type as Type, path, schema })))

/** A value of a field that is not its default. */
function valueFor(path: string, schema: Schema): unknown {
  if (schema.enum) return schema.enum.find((v) => v !== null && v !== schema.default)
  if (path.endsWith('successExitCodes')) return [3]
  if (schema.items) return ['x']
  if (schema.additionalProperties || path.endsWith('next[0].params')) return { k: 'v' }
  if (schema.type === 'boolean') return schema.default !== true
  if (schema.type === 'integer' || schema.type === 'number') return Math.max(schema.minimum ?? 0, Number(schema.default ?? 0)) + (schema.type === 'number' ? 0.5 : 1)
  return 'x'
}

type Tree = Record<string, unknown>
const steps = (path: string) => path.replace(/\[0\]/g, '.0').split('.')
const at = (tree: unknown, path: string) => steps(path).reduce<unknown>((now, name) => (now as Tree | undefined)?.[name], tree)

/** A copy of a job in which a field has a value. The state of a job is `enabled` in its body. */
function having(job: Job, path: string, value: unknown): Job {
  const next = structuredClone(job) as unknown as Tree
  if (path === 'enabled') return { ...job, status: 'CREATED' }
  const names = steps(path)
  names.slice(0, -1).reduce<Tree>((now, name, i) => (now[name] ??= names[i + 1] === '0' ? [] : {}) as Tree, next)[names.at(-1) ?? ''] = value
  return next as unknown as Job
}

/** Jobs of a type beside which a field means something: other kinds of a schedule, methods, commands. */
function jobsOf(type: Type): Job[] {
  const data: Record<Type, Tree[]> = {
    HTTP: [{ method: 'POST', url: 'http://x' }], COMMAND: [{ interpreter: 'sh', script: 'x' }, { command: ['x'] }], CUSTOM: [{}],
  }
  const job = storedJob({ jobType: type, deadline: { at: '06:00', timeZone: '', onMiss: 'ALERT' }, next: [{ job: 'b', on: 'SUCCESS', params: null }] })
  const parameters = (['STRING', 'ENUM'] as const).map((of) => [{ name: 'p', type: of, required: false, description: '', values: ['y'] }] as unknown as Job['parameters'])
  return (['CRON', 'FIXED_RATE', 'ONCE'] as const).flatMap((kind) => data[type].flatMap((jobData) =>
    parameters.map((p) => ({ ...job, parameters: p, jobData, schedule: { ...job.schedule, kind, at: kind === 'ONCE' ? '2026-12-01T00:00:00Z' : null } }) as Job)))
}

const sources = Object.values(import.meta.glob<string>('../parts/*.vue', { query: '?raw', import: 'default', eager: true }))
const controls = sources.flatMap((source) => [...source.matchAll(/<Field\b(?:\s+[\w:@-]+(?:="[^"]*")?)*?\s+(:?)name="([^"]+)"/g)].map(([, bound, name]) => ({ bound: bound !== '', name: name ?? '', source })))

/** Whether a control names the field. A name with `${…}` does where its file lists the word in its place. */
function hasControl(path: string): boolean {
  const outer = inside[path]
  if (outer) return hasControl(outer.of) && sources.some((source) => source.includes(outer.by))
  return controls.some(({ bound, name, source }) => {
    if (!bound) return name === path
    const shape = name.replace(/`/g, '').split(/\$\{[^}]+\}/).map((part) => part.replace(/[.[\]]/g, '\\$&')).join('(\\w+)')
    const word = new RegExp(`^${shape}$`).exec(path)?.[1]
    return word !== undefined && (word === '0' || source.includes(`'${word}'`) || source.includes(`${word}: true`))
  })
}

describe('the form has each field of a job', () => {
  const fields = all.filter(({ type, path }) => !(`${type} ${path}` in leftAlone))

  it('of those that the API takes', () => {
    expect(fields.length).toBeGreaterThan(100)
    expect(Object.keys(leftAlone).filter((name) => !all.some(({ type, path }) => `${type} ${path}` === name))).toEqual([])
  })

  it('and reads it from a job', () => {
    const unread = fields.filter(({ type, path, schema }) => path !== 'jobType'
      && jobsOf(type).every((job) => JSON.stringify(formOf(job)) === JSON.stringify(formOf(having(job, path, valueFor(path, schema))))))
    expect(unread.map(({ type, path }) => `${type}: model/job.ts does not read ${path}`)).toEqual([])
  })

  it('and writes it into the body', () => {
    const unwritten = fields.filter(({ type, path, schema }) => jobsOf(type).every((job) => {
      const value = path === 'jobType' ? type : valueFor(path, schema)
      return JSON.stringify(at(bodyOf(formOf(having(job, path, value))), path)) !== JSON.stringify(value)
    }))
    expect(unwritten.map(({ type, path }) => `${type}: model/body.ts does not write ${path}`)).toEqual([])
  })

  it('and marks it in a section', () => {
    expect(fields.filter(({ path }) => sectionOf(path) === undefined).map(({ path }) => `model/sections.ts has no section for ${path}`)).toEqual([])
  })

  it('and names it', () => {
    const unnamed = fields.map(({ path }) => `jobform.field.${wordOf(path)}`).filter((key) => !hasText(key))
    expect([...new Set(unnamed)].map((key) => `no text has the word ${key}`)).toEqual([])
  })

  it('and shows it in a control', () => {
    expect(fields.filter(({ path }) => !hasControl(path)).map(({ type, path }) => `${type}: no part has a <Field name="${path}">`)).toEqual([])
  })
})
