import { namesOf } from '@/shared/api/names'
import type { Model } from '@/shared/api/types'

type Rule = Model<'Rule'>
type Job = Model<'Job'>

/** Whether a type of rules is about jobs, about workflows, about those with a deadline, or about the cluster: then no job has alerts of it. */
const subjects = {
  JOB_FAILED: 'job', JOB_SUCCEEDED: 'job', RECOVERED: 'job', CONSECUTIVE_FAILURES: 'job', FAILURE_RATE: 'job', TIMEOUT: 'job',
  DEAD_LETTER: 'job', EXPRESSION: 'job', SLOW_RUN: 'job', FASTER_THAN_USUAL: 'job', FAILING_MORE: 'job', NOT_FIRED: 'job', NO_NODE: 'job',
  STEP_HELD: 'workflow', APPROVAL_WAITING: 'workflow',
  DEADLINE_MISSED: 'deadline', DEADLINE_AT_RISK: 'deadline', LATENESS: 'cluster', QUEUE_DEPTH: 'cluster', NODE_SUSPECT: 'cluster',
  NODE_DOWN: 'cluster', CLOCK_SKEW: 'cluster', DEGRADED: 'cluster', NOTHING_RAN: 'cluster', WORKERS_FEW: 'cluster', WATCHDOG: 'cluster', DELIVERY_FAILED: 'cluster',
} as const satisfies Record<Rule['type'], 'job' | 'workflow' | 'deadline' | 'cluster'>

/** Whether labels have each of the wanted values. */
function has(labels: Record<string, string>, wanted: Record<string, string>): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value)
}

/** Whether a rule sees a job, as the server judges it: each part of the scope that is not empty must name the job. */
export function sees(rule: Pick<Rule, 'type' | 'group' | 'scope'>, job: Pick<Job, 'id' | 'group' | 'labels' | 'deadline' | 'jobType'>): boolean {
  const subject = subjects[rule.type]
  if (subject === 'cluster' || (subject === 'deadline' && job.deadline === null)) return false
  if (subject === 'workflow' && job.jobType !== 'WORKFLOW') return false
  if (rule.group !== null && rule.group !== job.group) return false
  const { jobIds, groups, labels } = rule.scope
  return (jobIds.length === 0 || jobIds.includes(job.id)) && (groups.length === 0 || groups.includes(job.group)) && has(job.labels, labels)
}

/** Whether a silence holds back every alert of a job: those have the labels of the job, its name and its group. */
export function silences(silence: Pick<Model<'Silence'>, 'group' | 'match'>, job: Pick<Job, 'name' | 'group' | 'labels'>): boolean {
  if (silence.group !== null && silence.group !== job.group) return false
  return has({ ...job.labels, job: job.name, group: job.group }, silence.match)
}

/** The match that holds back the alerts of this job alone. Names of jobs are unique in a group. */
export function silenceOf(job: Pick<Job, 'name' | 'group'>, to: string, comment: string): Model<'SilenceBody'> {
  return { match: { job: job.name, group: job.group }, group: job.group, to, comment }
}

/** The short form of the job: the events, each with its channels. */
export function asked(alerts: Job['alerts']): { event: 'onFailure' | 'onSuccess' | 'onEnd' | 'onLate' | 'onRecovered'; channels: string[] }[] {
  const events = namesOf<Exclude<keyof Model<'JobAlerts'>, 'lateAfterSec'>>({ onFailure: true, onSuccess: true, onEnd: true, onLate: true, onRecovered: true })
  return events.map((event) => ({ event, channels: alerts[event] })).filter(({ channels }) => channels.length > 0)
}
