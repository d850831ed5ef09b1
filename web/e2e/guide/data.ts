// Fills a server with what the pictures show: some groups of jobs with a past, runs good and bad, alerts, people.
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { waitFor, type Server } from '../harness'
import type { Receiver } from '../receiver'
import { flow } from './flow'

const root = path.resolve(import.meta.dirname, '../../..')

interface Job { id: string; name: string; version: number }

/** The ids of what the pages show. */
export interface Shown {
  job: string
  edited: string
  failed: string
  shards: string
  alert: string
  rule: string
  node: string
  worker: string
  flow: string
  /** A workflow run with a step that is held. */
  held: string
}

const http = (url: string, more: Record<string, unknown> = {}) => ({ jobType: 'HTTP', jobData: { method: 'GET', url, ...more } })
const script = (text: string, interpreter = 'sh') => ({ jobType: 'COMMAND', jobData: { interpreter, script: text } })
const cron = (cronExpression: string, timeZone = 'Europe/Berlin', more: Record<string, unknown> = {}) =>
  ({ schedule: { kind: 'CRON', cronExpression, timeZone, ...more } })

function definitions(far: string): Record<string, unknown>[] {
  return [
    // All at one moment: the peak of the coming day.
    ...Array.from({ length: 40 }, (_, n) => ({
      name: `nightly export ${String(n + 1).padStart(2, '0')}`, group: 'exports', owner: 'pia', labels: { team: 'reports' },
      ...http(`${far}/export/${n + 1}`), ...cron('0 0 23 * * ?'),
    })),
    {
      name: 'settle orders', group: 'billing', owner: 'ann', labels: { team: 'billing', tier: '1' },
      description: 'Books the orders of the last five minutes.', ...http(`${far}/settle?from=\${scheduledTime-5m:HH:mm}`),
      ...cron('0 0/5 * * * ?', 'Asia/Shanghai'), overlapPolicy: 'SERIAL', retryPolicy: { maxRetries: 3, backoff: 'EXPONENTIAL' },
    },
    {
      name: 'send invoices', group: 'billing', owner: 'ann', labels: { team: 'billing', tier: '1' },
      description: 'Mails the invoices of the day before.', ...http(`${far}/invoices?day=\${scheduledTime-1d:yyyy-MM-dd}`, { method: 'POST' }),
      ...cron('0 30 8 ? * MON-FRI'), retryPolicy: { maxRetries: 2, intervalMs: 200, backoff: 'FIXED' },
      deadline: { at: '09:00', timeZone: 'Europe/Berlin', onMiss: 'ALERT' },
    },
    {
      name: 'close the books', group: 'billing', owner: 'ann', labels: { team: 'billing', tier: '2' },
      description: 'At the last workday of the month.', ...http(`${far}/books`, { method: 'POST' }), ...cron('0 0 22 LW * ?'),
    },
    {
      name: '对账', group: '结算', owner: 'lilei', labels: { team: 'settlement' }, description: '每天核对前一日的流水。',
      ...http(`${far}/reconcile`), ...cron('0 30 2 * * ?', 'Asia/Shanghai'),
    },
    {
      name: 'sync stock', group: 'warehouse', owner: 'otto', labels: { team: 'warehouse', tier: '1' },
      description: 'Asks each shop for its stock.', ...http(`${far}/stock`), ...cron('0 0/10 * * * ?'),
    },
    {
      name: 'import price list', group: 'warehouse', owner: 'otto', labels: { team: 'warehouse' },
      description: 'Reads the price list of the suppliers.', ...cron('0 15 3 * * ?'),
      ...script('echo "fetch prices of 4 suppliers"\nfor s in north east south west; do echo "supplier $s: 1024 prices"; done\n'
        + 'echo "warning: 12 prices are older than a week" >&2\necho "done: 4096 prices"\n'),
    },
    {
      name: 'rebuild search index', group: 'warehouse', owner: 'otto', labels: { team: 'search' }, shardCount: 12,
      description: 'Twelve shards, one a part of the catalogue.', jobType: 'CUSTOM', jobClass: 'sleep', jobData: { ms: 300 },
      ...cron('0 0 4 ? * SUN'), overlapPolicy: 'DISCARD',
    },
    {
      name: 'daily sales report', group: 'reports', owner: 'pia', labels: { team: 'reports' },
      description: 'Sums the sales of a day, for one region or all.',
      parameters: [
        { name: 'day', type: 'DATE', description: 'The day to sum up' },
        { name: 'region', type: 'ENUM', values: ['north', 'south', 'all'], default: 'all', description: 'One region, or all' },
      ],
      ...http(`${far}/sales?region=\${params.region:-all}`), ...cron('0 0 6 * * ?'),
    },
    {
      name: 'weekly figures', group: 'reports', owner: 'pia', labels: { team: 'reports' }, description: 'Mailed on Mondays.',
      ...http(`${far}/weekly`), ...cron('0 0 7 ? * MON'),
    },
    {
      name: 'refresh dashboards', group: 'reports', owner: 'pia', labels: { team: 'reports' },
      description: 'Every half an hour.', ...http(`${far}/dashboards`), ...cron('0 0/30 * * * ?'),
    },
    {
      name: 'back up database', group: 'platform', owner: 'root', labels: { team: 'platform', tier: '1' }, timeoutSec: 7200,
      description: 'A full backup each night.', jobType: 'CUSTOM', jobClass: 'sleep', jobData: { ms: 3_000_000 }, ...cron('0 0 1 * * ?'),
      overlapPolicy: 'SERIAL',
    },
    {
      name: 'check certificates', group: 'platform', owner: 'root', labels: { team: 'platform' },
      description: 'Warns a month before a certificate ends.',
      ...script('echo "checking 3 hosts"\necho "shop.example.com: 61 days left"\n'
        + 'echo "mail.example.com: 9 days left" >&2\nexit 2\n'),
      ...cron('0 0 9 * * ?'),
    },
    {
      name: 'rotate logs', group: 'platform', owner: 'root', labels: { team: 'platform' },
      ...http(`${far}/rotate`), ...cron('5 0 * * *', 'UTC', { dialect: 'UNIX' }),
    },
  ]
}

/** Runs from before the first start of the server. */
const pasts = [
  { job: 'settle orders', days: 14, durationMs: 820, failEvery: 90, reason: 'HTTP_STATUS', error: 'status 503 Service Unavailable is not among the expected 200-299' },
  { job: 'send invoices', days: 30, durationMs: 41_000, failEvery: 12, reason: 'HTTP_STATUS', error: 'status 502 Bad Gateway is not among the expected 200-299' },
  { job: '对账', days: 30, durationMs: 95_000 },
  { job: 'sync stock', days: 14, durationMs: 2_300, failEvery: 40, reason: 'ERROR', error: 'dial tcp 10.20.4.17:8080: connect: connection refused', skipFrom: 9, skipTo: 7 },
  { job: 'import price list', days: 30, durationMs: 128_000, failEvery: 15, reason: 'EXIT_CODE', error: 'exit status 3' },
  { job: 'daily sales report', days: 30, durationMs: 64_000 },
  { job: 'weekly figures', days: 40, durationMs: 152_000 },
  { job: 'refresh dashboards', days: 14, durationMs: 9_400, failEvery: 120, reason: 'TIMEOUT', error: 'it ran longer than 60 s' },
  { job: 'check certificates', days: 30, durationMs: 700, failEvery: 6, reason: 'EXIT_CODE', error: 'exit status 2' },
  { job: 'rotate logs', days: 30, durationMs: 1_200 },
]

const post = <T>(server: Server, address: string, body: unknown = {}) => server.api<T>('POST', `/api/v1/${address}`, body)

/** Definitions, people and settings. */
export async function define(server: Server, far: Receiver, inFourHours: string): Promise<Map<string, Job>> {
  for (const [name, maxConcurrency] of [['billing', 4], ['warehouse', 8], ['reports', 2], ['platform', 0], ['exports', 10], ['结算', 0]] as const) {
    await post(server, 'groups', { name, ...(maxConcurrency > 0 ? { maxConcurrency } : {}) })
  }
  const jobs = new Map<string, Job>()
  for (const definition of definitions(far.url)) {
    const job = await post<Job>(server, 'jobs', definition)
    jobs.set(job.name, job)
  }
  for (const [name, role] of [['ann', 'operator'], ['otto', 'operator'], ['pia', 'viewer'], ['lilei', 'operator']] as const) {
    await server.user(name, role, name === 'ann' ? { groups: { billing: 'operator' } } : {})
  }
  await post(server, 'secrets', { name: 'LEDGER_TOKEN', value: 'not-shown-anywhere-4711' })
  await post(server, 'secrets', { name: 'MAIL_PASSWORD', value: 'not-shown-anywhere-4712' })
  await post(server, 'tokens', { name: 'deployments', scopes: ['job:read', 'job:write'], expiresAt: inFourHours })
  const hook = await post<{ id: string }>(server, 'alert-channels', { name: 'billing chat', type: 'WEBHOOK', config: { url: `${far.url}/hook` } })
  await post(server, 'alert-channels', {
    name: 'on-call mail', type: 'EMAIL', config: { host: 'mail.example.com', port: 587, tls: 'STARTTLS', from: 'scheduler@example.com', to: ['oncall@example.com'] },
  })
  await post(server, 'alert-rules', {
    name: 'billing fails', type: 'JOB_FAILED', level: 'CRITICAL', channelIds: [hook.id], scope: { labels: { team: 'billing' } },
  })
  await post(server, 'alert-rules', { name: 'the index is slow', type: 'SLOW_RUN', level: 'WARNING', scope: { labels: { team: 'search' } } })
  await post(server, 'alert-silences', { name: 'certificates are ordered', match: { job: 'check certificates' }, to: inFourHours, comment: 'New ones come on Friday' })
  await post(server, 'alert-routes', { name: 'warehouse at night', match: { team: 'warehouse' }, channelIds: [hook.id], groupBy: ['job'] })
  return jobs
}

/** Gives the jobs their past. The server must be stopped. */
export async function remember(store: string, node: string, now: string): Promise<void> {
  const running = promisify(execFile)('go', ['run', './test/guide', '-store', store, '-node', node, '-now', now], { cwd: root })
  running.child.stdin?.end(JSON.stringify(pasts))
  await running
}

/** A worker that registers, beats and runs what it is given until it is stopped. A step of the clock may end its life; it begins another one then. */
export class ShownWorker {
  private stopped = false
  private done: Promise<void> = Promise.resolve()
  id = ''

  private constructor(private readonly server: Server, private readonly token: string, private readonly instance: string, private readonly version: string) {}

  static async start(server: Server, token: string, instance: string, version: string): Promise<ShownWorker> {
    const worker = new ShownWorker(server, token, instance, version)
    let first = () => {}
    const there = new Promise<void>((resolve) => { first = resolve })
    worker.done = worker.live(first)
    await there
    return worker
  }

  private async live(begun: () => void): Promise<void> {
    for (let life = 1; !this.stopped; life++) {
      const body = {
        protocol: 1, group: 'shop', instance: this.instance, bootId: `boot-${life}`, slots: 8, handlers: ['close-till', 'refund', 'ship-order'],
        labels: { zone: this.instance.slice(-1) }, sdk: 'java 1.0.0', runtime: '21.0.4', version: this.version, host: `10.0.3.1${life}`, pid: 4711,
      }
      const { workerId, epoch } = await this.server.api<{ workerId: string; epoch: number }>('POST', '/api/v1/workers', body, this.token)
      this.id = workerId
      begun()
      await this.poll(epoch).catch((e: unknown) => {
        if (!String(e).includes('epoch_lost')) throw e
      })
    }
  }

  private async poll(epoch: number): Promise<void> {
    const running: string[] = []
    for (let seq = 1; !this.stopped; seq++) {
      const { runs } = await this.server.api<{ runs: { executionId: string; token: number }[] }>('POST', `/api/v1/workers/${this.id}/poll`, {
        epoch, seq, ack: seq - 1, free: 8 - running.length, running, waitMs: 500,
      }, this.token)
      running.push(...runs.map((r) => `${r.executionId}:${r.token}`))
    }
  }

  async stop(): Promise<void> {
    this.stopped = true
    await this.done
  }
}

/** Starts the workers of the shop, and lets them run something. */
export async function employ(server: Server): Promise<ShownWorker[]> {
  await server.api('PUT', '/api/v1/worker-groups/shop', { jobGroups: ['billing', 'warehouse'], secrets: true })
  const { token } = await post<{ token: string }>(server, 'worker-groups/shop/tokens', {
    name: 'deployed in May', expiresAt: '2027-09-01T00:00:00Z',
  })
  const workers = [await ShownWorker.start(server, token, 'shop-7c9-a', 'shop 3.2'), await ShownWorker.start(server, token, 'shop-7c9-b', 'shop 3.2')]
  for (const [name, jobClass] of [['ship orders', 'ship-order'], ['refund returns', 'refund'], ['close the tills', 'close-till']] as const) {
    const job = await post<Job>(server, 'jobs', { name, group: 'warehouse', owner: 'otto', jobType: 'CUSTOM', jobClass, routing: { workers: 'shop' }, onNodeLoss: 'RETRY' })
    await post(server, `jobs/${job.id}/trigger`)
  }
  return workers
}

/** Lets something happen now: failures, dead letters, a run that lasts, one that waits, alerts, an edit, a backfill. */
export async function live(server: Server, far: Receiver, jobs: Map<string, Job>): Promise<Shown> {
  const id = (name: string) => jobs.get(name)?.id ?? ''
  const trigger = async (name: string, body: Record<string, unknown> = {}) =>
    (await post<{ executionIds: string[] }>(server, `jobs/${id(name)}/trigger`, body)).executionIds[0] ?? ''
  const over = async (execution: string) => {
    await waitFor(async () => {
      const { status } = await server.api<{ status: string }>('GET', `/api/v1/executions/${execution}`)
      return status !== 'WAITING' && status !== 'RUNNING'
    }, 60_000, () => `${execution} does not end`)
    return execution
  }

  // Versions to compare.
  const report = await server.api<Record<string, unknown>>('GET', `/api/v1/jobs/${id('daily sales report')}`)
  await server.api('PUT', `/api/v1/jobs/${id('daily sales report')}`, { ...report, timeoutSec: 900, retryPolicy: { maxRetries: 2 } })
  await server.api('PUT', `/api/v1/jobs/${id('daily sales report')}`, { ...report, version: 2, timeoutSec: 900, priority: 7, retryPolicy: { maxRetries: 2 } })

  far.answer('/invoices', 503, 'the mail queue is full')
  await trigger('back up database')
  await trigger('back up database')
  const shards = await trigger('rebuild search index')
  await over(await trigger('import price list'))
  const failed = await over(await trigger('check certificates'))
  for (let n = 0; n < 3; n++) await over(await trigger('send invoices'))
  await over(await trigger('settle orders'))
  await over(shards)
  await post(server, `jobs/${id('refresh dashboards')}/pause`, { reason: 'The warehouse moves until Friday' })
  const day = (ago: number) => new Date(Date.parse(report['createTime'] as string) - ago * 86_400_000).toISOString().slice(0, 10)
  await post(server, `jobs/${id('daily sales report')}/backfill`, { from: `${day(40)}T00:00:00Z`, to: `${day(31)}T00:00:00Z`, maxParallel: 2 })

  interface Alert { id: string; jobName: string; alertLevel: string; alertType: string; deliveries: { state: string }[] }
  const alerts = async () => (await server.api<{ items: Alert[] }>('GET', '/api/v1/alerts?status=FIRING')).items
  const about = async () => (await alerts()).find((a) => a.jobName === 'send invoices' && a.alertType === 'JOB_FAILED' && a.alertLevel === 'CRITICAL')
  await waitFor(async () => (await about())?.deliveries.some((d) => d.state === 'SENT') === true, 60_000, () => 'no alert was sent')
  await waitFor(async () => (await alerts()).some((a) => a.jobName === 'check certificates'), 60_000)
  const other = (await alerts()).find((a) => a.jobName === 'check certificates')
  await post(server, `alerts/${other?.id ?? ''}/ack`, { comment: 'New certificates come on Friday' })

  const { items: [node] } = await server.api<{ items: { id: string }[] }>('GET', '/api/v1/nodes')
  const { items: rules } = await server.api<{ items: { id: string; name: string }[] }>('GET', '/api/v1/alert-rules')
  return {
    job: id('sync stock'), edited: id('daily sales report'), failed, shards,
    alert: (await about())?.id ?? '', rule: rules.find((r) => r.name === 'billing fails')?.id ?? '', node: node?.id ?? '',
    worker: '', ...(await flow(server, far, cron('0 0 15 ? * MON-FRI'))),
  }
}
