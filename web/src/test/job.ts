import type { Model } from '@/shared/api/types'

type Job = Model<'Job'>

/** A job as the server shows it: all is at its default but for what a test wants. */
export const storedJob = (over: Partial<Job>): Job => ({
  alerts: { onFailure: [], onSuccess: [], onEnd: [], onLate: [], onRecovered: [], lateAfterSec: 0 }, broadcast: false, createTime: '', deadline: null,
  description: '', group: 'default', id: '1', jobClass: '', jobData: {}, jobType: 'HTTP', labels: {}, lastFireTime: null, maxConcurrency: 0, maxQueued: 100,
  name: 'a', next: [], nextFireTime: null, onNodeLoss: 'RETRY', overlapPolicy: 'PARALLEL', owner: '', parameters: [], pauseReason: '', pauseUser: '', pausedAt: null,
  pausedBy: '', pausedUntil: null, priority: 5, retryPolicy: { maxRetries: 0, backoff: 'FIXED', intervalMs: 1000, maxIntervalMs: 60000, jitter: 0.1, noRetryOn: [] },
  routing: { strategy: 'ANY', labels: {} },
  schedule: {
    kind: 'CRON', cronExpression: '0 0 2 * * ?', dialect: 'QUARTZ', intervalMs: 0, at: null, timeZone: 'UTC', startTime: null, endTime: null, jitterMs: 0,
    dstGap: 'NEXT_VALID', dstOverlap: 'FIRST', misfirePolicy: 'FIRE_ONCE', misfireThresholdSec: 60, misfireWindowSec: 31536000, misfireMaxFires: 1000,
  },
  shardCount: 1, startDeadlineSec: 0, status: 'ENABLED', timeoutSec: 0, unreadable: '', updateTime: '', version: 1, ...over,
})
