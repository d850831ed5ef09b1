// The form's model of a job: every field with a value, maps as lists of pairs, so that
// inputs can bind to it. body.ts makes the API's request of it.
import type { Model } from '@/shared/api/types'
import { yamlOf, type Body } from '@/shared/text/yaml'

export type Job = Model<'Job'>
export type ScheduleKind = Model<'Schedule'>['kind']
export type FormType = Model<'JobType'>
export interface Pair { key: string; value: string }

export interface Parameter {
  name: string
  type: Model<'ParameterType'>
  default: string
  required: boolean
  description: string
  values: string[]
}

/** A job that the end of a fire starts; params are the text of a JSON object. */
export interface NextJob {
  job: string
  on: Job['next'][number]['on']
  params: string
}

export interface HttpForm {
  method: string
  url: string
  headers: Pair[]
  body: string
  expectedStatus: string
  expectedBody: string
  async: boolean
  clientCertificate: string
  clientKey: string
  certificateAuthority: string
}

export interface CommandForm {
  kind: 'script' | 'command'
  command: string[]
  script: string
  interpreter: string
  env: Pair[]
  workingDir: string
  successExitCodes: string
  outputCharset: string
  cpuSec: number | null
  memoryMb: number | null
  openFiles: number | null
  processes: number | null
  fileMb: number | null
}

/** The data of a workflow: its YAML, and what was read of it. */
export interface WorkflowForm {
  yaml: string
  /** Null while the YAML was not read, or cannot be. */
  data: Body | null
}

export interface JobForm {
  name: string
  group: string
  description: string
  owner: string
  labels: Pair[]
  enabled: boolean
  jobType: FormType
  jobClass: string
  http: HttpForm
  command: CommandForm
  /** jobData of a handler, as the text of a JSON object. */
  custom: string
  workflow: WorkflowForm
  parameters: Parameter[]
  schedule: {
    kind: ScheduleKind
    cronExpression: string
    dialect: Model<'Schedule'>['dialect']
    intervalMs: number
    at: string
    timeZone: string
    startTime: string
    endTime: string
    jitterMs: number
    dstGap: Model<'Schedule'>['dstGap']
    dstOverlap: Model<'Schedule'>['dstOverlap']
    misfirePolicy: Model<'Schedule'>['misfirePolicy']
    misfireThresholdSec: number
    misfireWindowSec: number
    misfireMaxFires: number
  }
  priority: number
  timeoutSec: number
  startDeadlineSec: number
  retryPolicy: {
    maxRetries: number
    backoff: Model<'RetryPolicy'>['backoff']
    intervalMs: number
    maxIntervalMs: number
    jitter: number
    noRetryOn: string[]
  }
  overlapPolicy: Job['overlapPolicy']
  maxConcurrency: number
  maxQueued: number
  shardCount: number
  broadcast: boolean
  routing: { strategy: Model<'Routing'>['strategy']; labels: Pair[]; workers: string }
  onNodeLoss: Job['onNodeLoss']
  alerts: { onFailure: string[]; onSuccess: string[]; onEnd: string[]; onLate: string[]; onRecovered: string[]; lateAfterSec: number }
  next: NextJob[]
  deadline: { on: boolean; at: string; timeZone: string; onMiss: Model<'Deadline'>['onMiss'] }
}

/** How far back missed fires run where nobody says it: one run after a long outage does little harm, all of them might. */
const misfireWindows: Record<Model<'Schedule'>['misfirePolicy'], number> = { FIRE_ONCE: 31_536_000, SKIP: 86_400, FIRE_ALL: 86_400 }

/** Changes the misfire policy. A window that nobody has set follows it. */
export function choosePolicy(schedule: JobForm['schedule'], policy: Model<'Schedule'>['misfirePolicy']): void {
  if (schedule.misfireWindowSec === misfireWindows[schedule.misfirePolicy]) schedule.misfireWindowSec = misfireWindows[policy]
  schedule.misfirePolicy = policy
}

/** The form of a new job. `zone` is the one that the user sees times in. */
export function newJob(zone: string, group = ''): JobForm {
  return {
    name: '', group, description: '', owner: '', labels: [], enabled: true,
    jobType: 'HTTP', jobClass: '', http: newHttp(), command: newCommand(), custom: '{}', workflow: workflowOf(firstSteps), parameters: [],
    schedule: {
      kind: 'CRON', cronExpression: '0 0 2 * * ?', dialect: 'QUARTZ', intervalMs: 60_000, at: '', timeZone: zone,
      startTime: '', endTime: '', jitterMs: 0, dstGap: 'NEXT_VALID', dstOverlap: 'FIRST',
      misfirePolicy: 'FIRE_ONCE', misfireThresholdSec: 60, misfireWindowSec: misfireWindows.FIRE_ONCE, misfireMaxFires: 1_000,
    },
    priority: 5, timeoutSec: 0, startDeadlineSec: 0,
    retryPolicy: { maxRetries: 0, backoff: 'FIXED', intervalMs: 1_000, maxIntervalMs: 60_000, jitter: 0.1, noRetryOn: [] },
    overlapPolicy: 'PARALLEL', maxConcurrency: 0, maxQueued: 100, shardCount: 1, broadcast: false,
    routing: { strategy: 'ANY', labels: [], workers: '' }, onNodeLoss: 'RETRY',
    alerts: { onFailure: [], onSuccess: [], onEnd: [], onLate: [], onRecovered: [], lateAfterSec: 0 },
    next: [],
    deadline: { on: false, at: '06:00', timeZone: '', onMiss: 'ALERT' },
  }
}

/** Two steps that people write over. */
const firstSteps: Body = {
  steps: [
    { name: 'extract', http: { method: 'POST', url: 'http://service/extract' } },
    { name: 'load', needs: ['extract'], http: { method: 'POST', url: 'http://service/load' } },
  ],
}

/** The data of a workflow with their YAML. */
function workflowOf(data: Body): WorkflowForm {
  return { yaml: yamlOf(data), data }
}

function newHttp(): HttpForm {
  return {
    method: 'GET', url: '', headers: [], body: '', expectedStatus: '', expectedBody: '', async: false,
    clientCertificate: '', clientKey: '', certificateAuthority: '',
  }
}

function newCommand(): CommandForm {
  return {
    kind: 'script', command: [''], script: '', interpreter: 'sh', env: [], workingDir: '', successExitCodes: '', outputCharset: '',
    cpuSec: null, memoryMb: null, openFiles: null, processes: null, fileMb: null,
  }
}

const text = (value: unknown, otherwise = ''): string => (value === undefined || value === null ? otherwise : String(value))
const whole = (value: unknown): number | null => (typeof value === 'number' ? value : null)
const pairs = (map: unknown): Pair[] => Object.entries((map ?? {}) as Record<string, unknown>).map(([key, value]) => ({ key, value: text(value) }))

/** The form of a job as the server shows it. */
export function formOf(job: Job): JobForm {
  const form = newJob('')
  const type: FormType = job.jobType in { HTTP: 1, CUSTOM: 1, WORKFLOW: 1 } ? job.jobType : 'COMMAND'
  const data = job.jobData as Record<string, unknown>
  const s = job.schedule
  return {
    ...form,
    name: job.name, group: job.group, description: job.description, owner: job.owner, labels: pairs(job.labels),
    // A job that somebody paused is not to be resumed by an edit, nor by its YAML.
    enabled: job.status === 'ENABLED' || job.pausedBy === 'GROUP',
    jobType: type, jobClass: job.jobClass,
    http: type === 'HTTP' ? httpOf(data) : form.http,
    command: type === 'COMMAND' ? commandOf(data) : form.command,
    custom: type === 'CUSTOM' ? JSON.stringify(data, null, 2) : form.custom,
    workflow: type === 'WORKFLOW' ? workflowOf(data as Body) : form.workflow,
    parameters: (job.parameters ?? []).map((p) => ({
      name: p.name, type: p.type, default: text(p.default), required: p.required ?? false, description: text(p.description), values: p.values ?? [],
    })),
    schedule: {
      ...form.schedule, ...s, cronExpression: s.cronExpression || form.schedule.cronExpression,
      intervalMs: s.intervalMs || form.schedule.intervalMs, at: s.at ?? '', startTime: s.startTime ?? '', endTime: s.endTime ?? '',
    },
    priority: job.priority, timeoutSec: job.timeoutSec, startDeadlineSec: job.startDeadlineSec,
    retryPolicy: { ...job.retryPolicy, noRetryOn: [...(job.retryPolicy.noRetryOn ?? [])] },
    overlapPolicy: job.overlapPolicy, maxConcurrency: job.maxConcurrency, maxQueued: job.maxQueued,
    shardCount: job.shardCount, broadcast: job.broadcast,
    routing: { strategy: job.routing.strategy, labels: pairs(job.routing.labels), workers: job.routing.workers ?? '' },
    onNodeLoss: job.onNodeLoss,
    alerts: { ...form.alerts, ...JSON.parse(JSON.stringify(job.alerts ?? {})) as Partial<JobForm['alerts']> },
    next: job.next.map((n) => ({ job: n.job, on: n.on, params: n.params ? JSON.stringify(n.params) : '' })),
    deadline: job.deadline ? { ...job.deadline, on: true } : form.deadline,
  }
}

function httpOf(data: Record<string, unknown>): HttpForm {
  const form = newHttp()
  return {
    method: text(data['method'], 'GET'), url: text(data['url']), headers: pairs(data['headers']), body: text(data['body']),
    expectedStatus: text(data['expectedStatus']), expectedBody: text(data['expectedBody']), async: data['async'] === true,
    clientCertificate: text(data['clientCertificate'], form.clientCertificate), clientKey: text(data['clientKey']),
    certificateAuthority: text(data['certificateAuthority']),
  }
}

function commandOf(data: Record<string, unknown>): CommandForm {
  const command = ((data['command'] ?? []) as unknown[]).map((part) => text(part))
  return {
    kind: command.length > 0 ? 'command' : 'script', command: command.length > 0 ? command : [''],
    script: text(data['script']), interpreter: text(data['interpreter'], 'sh'), env: pairs(data['env']), workingDir: text(data['workingDir']),
    successExitCodes: ((data['successExitCodes'] ?? []) as number[]).join(', '), outputCharset: text(data['outputCharset']),
    cpuSec: whole(data['cpuSec']), memoryMb: whole(data['memoryMb']), openFiles: whole(data['openFiles']),
    processes: whole(data['processes']), fileMb: whole(data['fileMb']),
  }
}
