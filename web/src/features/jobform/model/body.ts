// The request that the form makes: only fields that differ from the defaults, as people write it.
import { newJob, type JobForm, type Pair } from './job'

type Value = string | number | boolean | null | Value[] | { [key: string]: Value }
export type Body = { [key: string]: Value }

/** A value that the form cannot send; the server never sees it. */
export class FormError extends Error {
  constructor(readonly field: string, readonly code: string) {
    super(code)
  }
}

const map = (pairs: Pair[]): Body => Object.fromEntries(pairs.filter((p) => p.key.trim() !== '').map((p) => [p.key.trim(), p.value]))

/** Leaves out what is empty or at its default. */
function lean(fields: Record<string, Value | undefined>, defaults: Record<string, unknown> = {}): Body {
  const out: Body = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null || value === '') continue
    if (JSON.stringify(value) === JSON.stringify(defaults[name])) continue
    if (typeof value === 'object' && Object.keys(value).length === 0) continue
    out[name] = value
  }
  return out
}

/** The job as a request, or as an entry of a document. Throws a FormError for data that is no JSON object. */
export function bodyOf(form: JobForm): Body {
  const d = newJob('')
  const f = form
  // The steps of a workflow have these, and not the workflow itself.
  const own = f.jobType === 'WORKFLOW' ? ownOfSteps : {}
  return {
    name: f.name.trim(),
    ...lean({ group: f.group.trim(), description: f.description, owner: f.owner.trim(), labels: map(f.labels) }),
    jobType: f.jobType,
    ...lean({ jobClass: f.jobType === 'CUSTOM' ? f.jobClass.trim() : '', enabled: f.enabled }, { enabled: true }),
    ...dataOf(f),
    ...lean({ parameters: f.parameters.map(parameterOf), schedule: scheduleOf(f) }),
    ...lean({ priority: f.priority, timeoutSec: f.timeoutSec, startDeadlineSec: f.startDeadlineSec }, { ...d }),
    ...lean({
      retryPolicy: lean({ ...f.retryPolicy }, d.retryPolicy),
      overlapPolicy: f.overlapPolicy, maxConcurrency: f.maxConcurrency, maxQueued: f.maxQueued, shardCount: f.shardCount,
      broadcast: f.broadcast, routing: lean({ strategy: f.routing.strategy, labels: map(f.routing.labels), workers: f.routing.workers.trim() }, { strategy: 'ANY' }),
      onNodeLoss: f.onNodeLoss, alerts: lean({ ...f.alerts }, { lateAfterSec: 0 }), next: f.next.map(nextOf),
      deadline: f.deadline.on ? { at: f.deadline.at, ...lean({ timeZone: f.deadline.timeZone, onMiss: f.deadline.onMiss }, d.deadline as Record<string, unknown>) } : undefined,
      ...own,
    }, { ...d }),
  }
}

const ownOfSteps = { retryPolicy: undefined, shardCount: undefined, broadcast: undefined, routing: undefined, onNodeLoss: undefined }

/** The request of an edit: the state of the job is not among what it takes. */
export function changeOf(form: JobForm): Body {
  const body = bodyOf(form)
  delete body['enabled']
  return body
}

function dataOf(f: JobForm): Body {
  if (f.jobType === 'HTTP') {
    const h = f.http
    const body = h.method === 'GET' || h.method === 'HEAD' ? '' : h.body
    return { jobData: { ...lean({ ...h, method: h.method, url: undefined, headers: map(h.headers), body }, { async: false }), url: h.url.trim() } }
  }
  if (f.jobType === 'COMMAND') {
    const { kind, command, script, interpreter, successExitCodes, env, ...rest } = f.command
    const what: Body = kind === 'command' ? { command } : { interpreter, script }
    return { jobData: { ...what, ...lean({ ...rest, env: map(env), successExitCodes: codes(successExitCodes) }) } }
  }
  if (f.jobType === 'WORKFLOW') {
    if (f.workflow.data === null) throw new FormError('jobData', 'yaml')
    return { jobData: f.workflow.data }
  }
  return lean({ jobData: json(f.custom) })
}

function codes(text: string): Value[] {
  return text.split(/[\s,;，；]+/).filter(Boolean).map((word) => (/^\d+$/.test(word) ? Number(word) : word))
}

function nextOf(n: JobForm['next'][number], i: number): Value {
  return { job: n.job.trim(), ...lean({ on: n.on, params: json(n.params, `next[${i}].params`) }, { on: 'SUCCESS' }) }
}

function json(text: string, field = 'jobData'): Body {
  if (text.trim() === '') return {}
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    throw new FormError(field, 'json')
  }
  if (typeof found !== 'object' || found === null || Array.isArray(found)) throw new FormError(field, 'object')
  return found as Body
}

function parameterOf(p: JobForm['parameters'][number]): Value {
  return {
    name: p.name.trim(),
    ...lean({ type: p.type, default: defaultOf(p), required: p.required, description: p.description }, { type: 'STRING', required: false }),
    ...(p.type === 'ENUM' ? { values: p.values } : {}),
  }
}

/** A default has the type of its parameter; what does not fit goes as it is, and the server says so. */
function defaultOf(p: JobForm['parameters'][number]): Value {
  if (p.default === '') return ''
  if ((p.type === 'INTEGER' || p.type === 'NUMBER') && /^-?\d+(\.\d+)?$/.test(p.default) && Number.isSafeInteger(Math.trunc(Number(p.default)))) {
    return Number(p.default)
  }
  if (p.type === 'BOOLEAN' && (p.default === 'true' || p.default === 'false')) return p.default === 'true'
  return p.default
}

/** The schedule of the form, with what its kind needs. */
export function scheduleOf(f: JobForm): Body {
  const s = f.schedule
  const d = newJob('').schedule
  if (s.kind === 'NONE') return {}
  const out: Body = { kind: s.kind }
  if (s.kind === 'CRON') {
    Object.assign(out, { cronExpression: s.cronExpression.trim() }, lean({ dialect: s.dialect, dstGap: s.dstGap, dstOverlap: s.dstOverlap }, { ...d }))
  } else if (s.kind === 'ONCE') Object.assign(out, { at: s.at })
  else Object.assign(out, { intervalMs: s.intervalMs })
  const spans = s.kind === 'ONCE' ? {} : { startTime: s.startTime, endTime: s.endTime }
  return {
    ...out,
    ...lean({
      timeZone: s.timeZone, ...spans, jitterMs: s.jitterMs, misfirePolicy: s.misfirePolicy,
      misfireThresholdSec: s.misfireThresholdSec, misfireWindowSec: s.misfireWindowSec, misfireMaxFires: s.misfireMaxFires,
    }, { ...d, timeZone: '' }),
  }
}
