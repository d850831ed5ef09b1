import type { Model } from '@/shared/api/types'
import { hasText, languageNow, t } from '.'

interface Told {
  alertType: string
  content: string
  details: Record<string, string>
}

/** The details that a sentence needs, by its name; a type may have several, the first that fits is said. */
const sentences = new Map<string, readonly (readonly [name: string, ...needs: string[]])[]>(Object.entries({
  JOB_FAILED: [['failed', 'job', 'cause']],
  JOB_SUCCEEDED: [['succeeded', 'job']],
  RECOVERED: [['recovered', 'job']],
  CONSECUTIVE_FAILURES: [['consecutive', 'job', 'runs', 'cause']],
  FAILURE_RATE: [['rate', 'job', 'failed', 'runs']],
  TIMEOUT: [['timeout', 'job']],
  DEAD_LETTER: [['dead', 'job', 'cause']],
  SLOW_RUN: [['slow', 'job', 'valueMs', 'usualMs']],
  FASTER_THAN_USUAL: [['fast', 'job', 'valueMs', 'usualMs']],
  FAILING_MORE: [['failingMore', 'job', 'failed']],
  DEADLINE_AT_RISK: [['atRisk', 'job', 'expectedEnd', 'deadline']],
  EXPRESSION: [['expression', 'job', 'expression']],
  CLOCK_SKEW: [['skewBy', 'node', 'offsetMs'], ['skew', 'node']],
  NOTHING_RAN: [['nothing', 'quietSec', 'expected']],
  DEADLINE_MISSED: [['deadline', 'job', 'scheduled', 'deadline']],
  NOT_FIRED: [['skipped', 'job', 'fires', 'reason'], ['notFired', 'job', 'due'], ['overdue', 'jobs'], ['unplanned', 'job']],
  LATENESS: [['late', 'queue', 'waitSec']],
  QUEUE_DEPTH: [['depth', 'depth']],
  NO_NODE: [['noNode', 'job', 'runs'], ['noNodeMany', 'runs'], ['noNodeSkipped', 'job']],
  NODE_SUSPECT: [['suspect', 'node']],
  NODE_DOWN: [['down', 'node']],
  DEGRADED: [['degraded', 'part', 'nodes', 'why'], ['suspended', 'rule', 'until', 'why']],
  WORKERS_FEW: [['workersFew', 'workers', 'up', 'least']],
  STEP_HELD: [['stepHeld', 'step', 'job', 'until']],
  APPROVAL_WAITING: [['approvalWaiting', 'step', 'job', 'until']],
  WATCHDOG: [['watchdog']],
  DELIVERY_FAILED: [['delivery', 'channel', 'message']],
} as const satisfies Record<Model<'alert.RuleType'>, readonly (readonly [string, ...string[]])[]>))

/**
 * The sentence of an alert, in the language of now. The server's own sentence is English: it stands in English, and
 * where an alert has not the details that a sentence needs.
 */
export function alertSentence(alert: Told): string {
  if (languageNow() === 'en') return alert.content
  const given: Record<string, string> = { ...alert.details }
  const cause = [given['reason'] || given['status'], given['message']].filter(Boolean).join(', ')
  if (cause !== '') given['cause'] = cause
  for (const [name, ...needs] of sentences.get(alert.alertType) ?? []) {
    if (needs.every((need) => given[need]) && hasText(`shared.alert.${name}`)) return t(`shared.alert.${name}`, given)
  }
  return alert.content
}
