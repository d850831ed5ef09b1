import { namesOf } from '@/shared/api/names'
import type { Model } from '@/shared/api/types'

type Alert = Model<'Alert'>

/** The verbs of a person about an alert. */
export type Verb = 'ack' | 'resolve'

/** The tabs of the list, with the states that each shows; none are all. */
export const tabs = {
  open: 'FIRING,ACKNOWLEDGED,PENDING',
  firing: 'FIRING',
  acknowledged: 'ACKNOWLEDGED',
  pending: 'PENDING',
  resolved: 'RESOLVED',
  all: '',
} as const satisfies Record<Lowercase<Model<'alert.Status'>> | 'open' | 'all', string>
type Tab = keyof typeof tabs

export const levels = namesOf<Model<'alert.Level'>>({ CRITICAL: true, WARNING: true, INFO: true })

/**
 * The types, each with what a rule of it is about: a level holds or not, the cluster has no jobs, worker groups serve groups of them,
 * workflow runs stand until somebody decides, rules may see steps, and what has a threshold.
 */
export const ruleForms = {
  JOB_FAILED: ['steps'], JOB_SUCCEEDED: [], RECOVERED: ['steps'], CONSECUTIVE_FAILURES: ['threshold', 'steps'], FAILURE_RATE: ['threshold', 'window', 'steps'],
  TIMEOUT: ['steps'], DEAD_LETTER: ['steps'], EXPRESSION: ['expression', 'steps'], SLOW_RUN: ['steps'], FASTER_THAN_USUAL: ['steps'], FAILING_MORE: ['steps'],
  DEADLINE_AT_RISK: [], DEADLINE_MISSED: [], NOT_FIRED: ['level', 'threshold'], LATENESS: ['level', 'cluster', 'threshold'],
  QUEUE_DEPTH: ['level', 'cluster', 'threshold'], NO_NODE: ['level', 'steps'], NODE_SUSPECT: ['level', 'cluster'],
  NODE_DOWN: ['level', 'cluster'], CLOCK_SKEW: ['level', 'cluster', 'threshold'], DEGRADED: ['level', 'cluster'],
  NOTHING_RAN: ['level', 'cluster', 'window'], WORKERS_FEW: ['level', 'groups', 'threshold'], WATCHDOG: ['level', 'cluster'], DELIVERY_FAILED: [],
  STEP_HELD: ['stands'], APPROVAL_WAITING: ['stands'],
} as const satisfies Record<Model<'alert.RuleType'>, readonly RulePart[]>
export type RulePart = 'level' | 'cluster' | 'groups' | 'threshold' | 'window' | 'expression' | 'steps' | 'stands'
export const ruleTypes = namesOf(ruleForms)

/** The filters that stand in the address of the list. */
export const noFilters = { state: 'open', level: '', type: '', group: '', labels: '', jobId: '', ruleId: '', nodeId: '' }
export type Filters = typeof noFilters

/** The question to the server. */
export interface AlertQuery {
  status?: string
  level?: Model<'alert.Level'>
  type?: string
  group?: string
  labels?: string
  jobId?: string
  ruleId?: string
  nodeId?: string
  cursor?: string
  limit: number
}

const PAGE = 50

/** The labels that tell the alerts of the same cause from others. */
const ofCause = ['rule', 'job', 'group', 'node'] as const

/** Where a silence of this alert is made, with the labels that it matches. */
export function silenceLink(alert: Pick<Alert, 'labels'>): { name: string; query: { from: string } } {
  const given = ofCause.flatMap((name) => (alert.labels[name] ? [[name, alert.labels[name]]] : []))
  return { name: 'alert-silences-new', query: { from: new URLSearchParams(given).toString() } }
}

export function isTab(name: string): name is Tab {
  return Object.hasOwn(tabs, name)
}

/** The query of filters and a place; what is empty is left out. An unknown tab shows what is open. */
export function queryOf(filters: Filters, cursor: string): AlertQuery {
  const { state, level, ...rest } = filters
  const query: AlertQuery = { limit: PAGE }
  const status = tabs[isTab(state) ? state : 'open']
  if (status) query.status = status
  const known = levels.find((l) => l === level)
  if (known) query.level = known
  for (const [name, value] of Object.entries(rest)) {
    if (value.trim() !== '') query[name as keyof typeof rest] = value.trim()
  }
  if (cursor) query.cursor = cursor
  return query
}

/** Whether a verb makes sense for an alert as it is. */
export function allows(alert: Pick<Alert, 'status'>, verb: Verb): boolean {
  return verb === 'ack' ? alert.status === 'FIRING' : alert.status !== 'RESOLVED'
}

/** A label for the filter: a comma in its value is written \, and a backslash \\. */
export function labelFilter(name: string, value: string): string {
  return `${name}=${value.replace(/\\/g, '\\\\').replace(/,/g, '\\,')}`
}

/** The subject of an alert, in a few words: its job, its node, or nothing. */
export function subjectOf(alert: Pick<Alert, 'jobName' | 'jobId' | 'nodeId' | 'labels'>): string {
  return alert.jobName ?? alert.jobId ?? alert.nodeId ?? alert.labels['queue'] ?? ''
}

/** Where "why?" about a job is answered, at the moment of the alert. */
export function whyLink(alert: Pick<Alert, 'jobId' | 'startTime' | 'pendingSince'>): string | undefined {
  const at = alert.pendingSince ?? alert.startTime
  if (!alert.jobId || !at) return undefined
  return `/jobs/${encodeURIComponent(alert.jobId)}?at=${encodeURIComponent(at)}`
}

/** Only addresses of the web are links. */
export function safeLink(address: string | null | undefined): string | undefined {
  return address && /^https?:\/\//i.test(address) ? address : undefined
}

interface Sent {
  messageId: string
  channelName: string | null
  channelId: string
  attempt: number
}

/** The attempts of each message, the latest message first and its attempts in order. */
export function messagesOf<D extends Sent>(deliveries: readonly D[]): { id: string; latest: D; attempts: D[] }[] {
  const found = new Map<string, D[]>()
  for (const d of deliveries) found.set(d.messageId, [...(found.get(d.messageId) ?? []), d])
  return [...found].flatMap(([id, all]) => {
    const attempts = all.sort((a, b) => a.attempt - b.attempt)
    const latest = attempts.at(-1)
    return latest ? [{ id, latest, attempts: attempts.filter((a) => a.attempt > 0) }] : []
  })
}
