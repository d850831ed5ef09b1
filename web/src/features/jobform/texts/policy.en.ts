/** The sentences below the fields, and those of the pictures. */
export default {
  hint: {
    name: 'Unique in its group.', owner: 'Whom to ask: a name, a mail address, a team.', labels: 'Your own words to filter by.',
    timeoutSec: '0 is no limit. HTTP requests have 60 s then.', startDeadlineSec: '0 is never.', priority: '10 goes first where runs wait.',
    shardCount: 'A fire has so many runs, each with its number.', maxConcurrency: '0 is any number.', maxQueued: 'A further fire is skipped.',
    jobData: {
      expectedStatus: 'Such as 200,204,300-302. Any other one fails.', expectedBody: 'A text; empty asks for none.', async: 'The answer begins the run only. Needs a time limit.',
      script: 'Placeholders are left alone in scripts: give values by variables.', successExitCodes: 'With commas.', outputCharset: 'Such as gbk or iso-8859-1.', clientKey: 'From a secret.',
    },
    parameters: { list: 'Declared ones make a form when somebody starts the job. Without any, a start may give whatever it likes.' },
    schedule: {
      jitterMs: 'Delays each start by a constant share of this, so that jobs of one moment do not start at once.', misfireThresholdSec: 'A start that is less late is no miss.', misfireWindowSec: 'What is older is skipped, with an alert.',
    },
    retryPolicy: { jitter: 'Each wait is up to this share shorter or longer.', noRetryOn: 'Reasons that a repetition does not mend.' },
    routing: { workers: 'Its workers run the job; empty: nodes do. For commands the group must allow them.' },
    next: { list: 'Once for each fire, when all its shards have ended.', job: 'Its name, or group/name of another group.', params: 'Placeholders of the run that ended may stand in it: ${result}, ${status}.' },
    alerts: { lateAfterSec: '0 is the grace of the cluster.' },
  },
  retryTitle: 'When an attempt fails', noRetry: 'A failure is the end of the run.', waits: 'Waits: {list}',
  backoff: { FIXED: 'Always the same', LINEAR: 'Grows by the first wait', EXPONENTIAL: 'Doubles' },
  overlap: { PARALLEL: 'Run beside it', SERIAL: 'Wait for it', DISCARD: 'Drop the new one', REPLACE: 'Replace it' },
  overlapText: {
    PARALLEL: 'Both run at once.', SERIAL: 'The new one starts when the old one ends.', DISCARD: 'The fire is skipped, and the ledger says so.', REPLACE: 'The old run is stopped for the new one.',
  },
  misfire: { FIRE_ONCE: 'Run the latest', SKIP: 'Run none', FIRE_ALL: 'Run all' },
  misfireText: {
    FIRE_ONCE: 'After an outage the latest missed fire runs, unless it is too old.', SKIP: 'Missed fires are skipped; the plan goes on.', FIRE_ALL: 'Each missed fire runs, in order.',
  },
  nodeLoss: { RETRY: 'Run it again', FAIL: 'It has failed' },
  nodeLossText: { RETRY: 'Another node begins it anew.', FAIL: 'Somebody looks what it had done.' },
  where: 'Where it runs: priority, shards, routing',
  routing: {
    ANY: 'Whoever is free', ROUND_ROBIN: 'In turn', RANDOM: 'By chance', WEIGHTED: 'By weight', LEAST_LOADED: 'Least loaded', CONSISTENT_HASH: 'Always the same (hash)',
    FIRST: 'First', LAST: 'Last', LFU: 'Least often used', LRU: 'Longest not used', FAILOVER: 'First that answers', BUSY_OVER: 'Next one if busy',
  },
}
