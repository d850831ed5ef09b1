/** The words for the fields, by their names in the API. */
export default {
  name: 'Name', group: 'Group', description: 'Description', owner: 'Owner', labels: 'Labels', enabled: 'Plan', jobType: 'Type', jobClass: 'Handler',
  timeoutSec: 'Time limit of an attempt', startDeadlineSec: 'Give up when not started within', priority: 'Priority', shardCount: 'Shards', broadcast: 'On every node, or worker of the group',
  overlapPolicy: 'When the run before is not over', maxConcurrency: 'Runs at once', maxQueued: 'Waiting at most', onNodeLoss: 'When its node is lost',
  jobData: {
    method: 'Method', url: 'URL', headers: 'Headers', body: 'Body', expectedStatus: 'Expected status', expectedBody: 'The answer must hold', async: 'The target reports the end later',
    clientCertificate: 'Client certificate (PEM)', clientKey: 'Client key', certificateAuthority: 'Certificate authority (PEM)', command: 'Program and arguments', script: 'Script',
    interpreter: 'Interpreter', env: 'Variables', workingDir: 'Working folder', successExitCodes: 'Exit codes of success', outputCharset: 'Encoding of the output', cpuSec: 'CPU seconds', memoryMb: 'Memory, MiB',
    openFiles: 'Open files', processes: 'Processes', fileMb: 'Size of a file, MiB', data: 'What the handler is given (JSON)',
  },
  parameters: { list: 'Parameters', name: 'Name', type: 'Type', default: 'Default', required: 'Required', description: 'Description', values: 'Values' },
  schedule: {
    kind: 'Kind', cronExpression: 'Cron expression', dialect: 'Dialect', intervalMs: 'Interval', at: 'At', timeZone: 'Time zone', startTime: 'Not before', endTime: 'Not after',
    jitterMs: 'Jitter', dstGap: 'A time that the clocks leave out', dstOverlap: 'A time that comes twice', misfirePolicy: 'When fires were missed',
    misfireThresholdSec: 'Counts as missed after', misfireWindowSec: 'Look back at most', misfireMaxFires: 'Run at most',
  },
  retryPolicy: { maxRetries: 'Retries', backoff: 'The wait', intervalMs: 'First wait', maxIntervalMs: 'Longest wait', jitter: 'Share by chance', noRetryOn: 'Not after' },
  routing: { strategy: 'Choice among nodes or workers', labels: 'Labels they must carry', workers: 'Worker group' },
  next: { list: 'Starts other jobs', job: 'Job', on: 'When', params: 'Parameters (JSON)' },
  alerts: { onFailure: 'It failed for good', onSuccess: 'It succeeded', onEnd: 'It ended, either way', onLate: 'It is late', onRecovered: 'It works again', lateAfterSec: 'Late after' },
  deadline: { at: 'By', timeZone: 'Time zone', onMiss: 'If not' },
}
