import type { Model } from '@/shared/api/types'

type Rule = Model<'Rule'>
type Job = Model<'Job'>

/** Types of rules that are about the cluster: no job has alerts of them. */
const ofCluster: readonly Rule['type'][] = [
  'LATENESS', 'QUEUE_DEPTH', 'NODE_SUSPECT', 'NODE_DOWN', 'CLOCK_SKEW', 'DEGRADED', 'NOTHING_RAN', 'WATCHDOG', 'DELIVERY_FAILED',
]
const ofDeadlines: readonly Rule['type'][] = ['DEADLINE_MISSED', 'DEADLINE_AT_RISK']

/** Whether labels have each of the wanted values. */
function has(labels: Record<string, string>, wanted: Record<string, string>): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value)
}

/** Whether a rule sees a job, as the server judges it: each part of the scope that is not empty must name the job. */
export function sees(rule: Pick<Rule, 'type' | 'group' | 'scope'>, job: Pick<Job, 'id' | 'group' | 'labels' | 'deadline'>): boolean {
  if (ofCluster.includes(rule.type) || (ofDeadlines.includes(rule.type) && job.deadline === null)) return false
  if (rule.group !== null && rule.group !== job.group) return false
  const { jobIds, groups, labels } = rule.scope
  return (jobIds.length === 0 || jobIds.includes(job.id)) && (groups.length === 0 || groups.includes(job.group)) && has(job.labels, labels)
}

/** Whether a silence holds back every alert of a job: those have the labels of the job, its name and its group. */
export function silences(silence: Pick<Model<'Silence'>, 'group' | 'match'>, job: Pick<Job, 'name' | 'group' | 'labels'>): boolean {
  if (silence.group !== null && silence.group !== job.group) return false
  return has({ ...job.labels, job: job.name, group: job.group }, silence.match)
}

/** What holds back the alerts of this job alone. Names of jobs are unique in a group. */
export function silenceOf(job: Pick<Job, 'name' | 'group'>, to: string, comment: string): Model<'SilenceBody'> {
  return { match: { job: job.name, group: job.group }, group: job.group, to, comment }
}

/** What the job itself asks for: the events, each with its channels. */
export function asked(alerts: Job['alerts']): { event: 'onFailure' | 'onSuccess' | 'onEnd' | 'onLate' | 'onRecovered'; channels: string[] }[] {
  const events = ['onFailure', 'onSuccess', 'onEnd', 'onLate', 'onRecovered'] as const
  return events.map((event) => ({ event, channels: alerts[event] })).filter(({ channels }) => channels.length > 0)
}
