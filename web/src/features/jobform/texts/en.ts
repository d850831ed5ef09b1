import field from './field.en'
import policy from './policy.en'

export default {
  newTitle: 'New job', newText: 'Only the name and what it runs are needed. Everything else has a good default.',
  copyTitle: 'Copy a job', copyText: 'A new job like “{name}”. It does not fire by itself until you switch it on.', copyName: '{name} (copy)',
  editTitle: 'Edit a job', editOf: 'Edit {name}', jobs: 'Jobs', view: 'How the job is shown', asForm: 'Form', asYaml: 'YAML', sections: 'Sections of the form',
  section: { what: 'What it is', runs: 'What it runs', when: 'When it runs', behaves: 'How it behaves', told: 'What its end leads to' },
  sectionText: {
    what: 'How people find the job, and whom they ask.', runs: 'What one run does.', when: 'The plan by which it fires by itself. It can always be started by hand as well.',
    behaves: 'What happens when a run fails, takes too long, or could not start in time.', told: 'Channels that hear of its runs, besides the rules of alerting, and jobs that its end starts.',
  },
  problems: 'one to mend | {n} to mend', unsaved: 'Changes are not saved', make: 'Create job', made: '{name} is made', saved: '{name} is saved', unnamed: 'this job',
  leaveTitle: 'Leave without saving {name}?', leaveText: 'What you changed would be lost.', leave: 'Leave',
  dropTitle: 'Drop the changes of the YAML?', dropText: 'The form does not have them. Apply the document first to keep them.', drop: 'Drop them',
  groupDefault: 'default', enabledOn: 'It fires by its plan as soon as it is made', enabledOff: 'It is made, and waits until somebody resumes it',
  error: { json: 'This is not JSON: look for a missing comma, quote or brace.', object: 'This must be one JSON object, in braces.' },
  field, ...policy,
  type: { HTTP: 'HTTP request', COMMAND: 'Script or command', CUSTOM: 'Handler' },
  typeText: {
    HTTP: 'Calls a service. Its answer decides.', COMMAND: 'Runs on a node. The exit code decides.', CUSTOM: 'Calls Go code that your nodes have registered.',
  },
  noCommandRight: 'You may not save commands. Ask an admin for the permission job:command.',
  header: 'header', variable: 'variable', tls: 'Certificates', limits: 'Limits of the process', noLimit: 'no limit', ownFolder: 'a folder of the run’s own', program: 'Program',
  commandKind: { label: 'Script or program', script: 'A script', command: 'A program with arguments' },
  commandKindText: { script: 'Text that an interpreter reads, such as sh or python3.', command: 'No shell is between: each argument stays one argument.' },
  handler: {
    choose: 'Choose a handler', own: 'Of your nodes', builtIn: 'Built in, to try things out', nodes: 'on one node | on {n} nodes',
    missing: 'No live node has {name} at this moment. The job can be saved; its runs wait until one has it.',
  },
  parameter: 'Parameter {n}', addParameter: 'Declare a parameter', nextJob: 'Job {n}', addNext: 'Start another job',
  nextOn: { SUCCESS: 'After a success', FAILURE: 'After a failure', END: 'After its end, either way' }, valuesHow: 'Type a value, then Enter',
  parameterType: { STRING: 'Text', INTEGER: 'Whole number', NUMBER: 'Number', BOOLEAN: 'Yes or no', ENUM: 'One of a list', DATE: 'Date', DATETIME: 'Date and time' },
  pairs: { key: 'Name', value: 'Value', keyOf: 'Name {n}, {name}', valueOf: 'Value {n}, {name}', add: 'Add {name}', remove: 'Remove {name}' },
  list: { item: 'Argument {n}', itemOf: 'Argument {n}, {name}', add: 'Add an argument', remove: 'Remove line {n}' },
  unitOf: 'Unit, {name}', unit: { ms: 'ms', s: 'seconds', min: 'minutes', h: 'hours', d: 'days' },
  zone: { yours: '{name} (yours)', server: 'Zone of the server', schedule: 'Zone of the schedule' },
  placeholder: {
    insert: 'Insert a placeholder', preview: 'As the next run would have it', time: 'planned time', day: 'its day', dayBefore: 'the day before', params: 'all parameters, as JSON',
    executionId: 'id of the run', jobName: 'name of the job', group: 'its group', attempt: 'number of the attempt', shardIndex: 'number of the shard', shardTotal: 'how many shards',
    idempotencyKey: 'the same for each attempt', deadline: 'when its time is over', checkpoint: 'where the attempt before was', param: 'parameter', secret: 'secret',
  },
  kind: { CRON: 'Cron', FIXED_RATE: 'Every so often', FIXED_DELAY: 'With a rest', ONCE: 'Once', NONE: 'Never' },
  kindText: {
    CRON: 'At times of the clock.', FIXED_RATE: 'In a fixed rhythm.', FIXED_DELAY: 'A while after the last run ended.', ONCE: 'At one moment.', NONE: 'By hand or by a program only.',
  },
  bounds: 'Begin, end, jitter, changes of the clock',
  dstGap: { NEXT_VALID: 'Fire at the next time that exists', SKIP: 'Skip it' }, dstOverlap: { FIRST: 'Fire at the first one', BOTH: 'Fire at both' },
  dialect: { QUARTZ: 'Quartz', UNIX: 'Unix' },
  cron: {
    noWords: 'No words for this one; the fires below tell.', untold: 'The other dialect cannot say this: the text stays as it is. Check the fires below.', samples: 'Begin with',
    builder: 'Parts of the expression', textOnly: 'This form has no parts to choose. Pick one above to build from.',
    sample: { fiveMinutes: 'every 5 minutes', hourly: 'every hour', daily: 'every day 02:00', workdays: 'workdays 09:00', weekly: 'Mondays 09:00', monthly: '1st of the month', monthEnd: 'last of the month' },
    field: { second: 'Second', minute: 'Minute', hour: 'Hour', day: 'Day', month: 'Month', week: 'Weekday', year: 'Year' },
    unit: { second: 'seconds', minute: 'minutes', hour: 'hours', day: 'days', month: 'months', week: 'days', year: 'years' },
    mode: {
      every: 'Every one', none: 'Any', step: 'In steps', range: 'From – to', list: 'These', last: 'Last day', lastWorkday: 'Last workday', workday: 'Workday nearest to',
      lastWeek: 'Last one of the month', nthWeek: 'Nth of the month', text: 'As text',
    },
    every: 'every', from: ', from', step: 'Step', start: 'Start', first: 'From', last: 'To', values: 'Values', before: 'Days before the last day', beforeLast: 'days before the last day of the month',
    nth: 'Which one', nthOf: 'number {n}', free: 'Any: the other day field decides.', all: 'No restriction.',
  },
  fires: {
    title: 'The next 30 fires', list: 'The next fires', none: 'It does not fire any more.', change: 'The clocks change here: {from} → {to}', mine: 'yours: {time}',
    ofDay: 'one fire | {n} fires', mark: { moved: 'moved: its time does not exist', skipped: 'skipped: its time does not exist', again: 'the same clock time again' },
  },
  noChannels: 'There are no channels yet. Make one under alert settings, then name it here.', nobody: 'nobody', nothing: 'nothing',
  deadlineOn: 'It must have succeeded by a time of the day', onMiss: { ALERT: 'Raise an alert', CANCEL: 'Raise an alert and stop what still runs' },
  conflict: {
    title: '{name} was changed meanwhile', by: '{user} saved another version while you were editing.', bySomebody: 'Another version was saved while you were editing.',
    clashes: 'You both changed one field. | You both changed {n} fields.', changes: 'What is different', field: 'Field', before: 'When you opened it', theirs: 'Stored now', mine: 'Yours',
    both: 'both', takeTheirs: 'Take theirs', keepMine: 'Keep my changes on theirs',
  },
  trial: {
    button: 'Try it', title: 'Try {name}', run: 'Run it once', again: 'Run it again', stop: 'Cancel the run', close: 'Close', running: 'It runs …',
    text: 'This is one real run on the node that answers, for at most 30 seconds. Only the audit log notes it: no job, no execution, no statistics, no alert.',
    stopped: 'The run was cancelled.', refused: 'It was not run', exitCode: 'exit code {code}', node: 'on {node}', logCut: 'The log was cut here: it is longer than a trial shows.',
    not: {
      write: 'You may not write jobs of this group (job:write).', run: 'You may not run jobs of this group (job:run).',
      command: 'You may not run commands. Ask an admin for the permission job:command.',
    },
  },
  yaml: {
    text: 'The job as a document, as export writes it. The server checks it and says what would change before anything does.', label: 'Job as YAML', wrong: 'The document is not right',
    plan: 'What would change', check: 'Check', apply: 'Apply', applied: 'The document is applied', first: 'Check it first.', other: 'This is about another job: a job is known by its group and name.',
    action: { CREATE: 'Create', UPDATE: 'Change', UNCHANGED: 'Nothing to change', DELETE: 'Delete' },
  },
}
