export default {
  title: 'Dead letters', text: 'Runs whose retries are used up. Replay them when the cause is gone.',
  causes: 'By cause', each: 'One by one', job: 'Job', reason: 'Reason', count: 'Count', message: 'Message', latest: 'Latest', died: 'Since',
  replayedAs: 'Replayed as', newRun: 'New run', ofCause: 'Those of one cause are shown.', selected: 'the selected ones',
  none: 'No dead letters', noneText: 'A run that fails after its last retry comes here.',
  replay: 'Replay', replayTitle: 'Replay one dead letter of {name}? | Replay {n} dead letters of {name}?',
  replayText: 'Each runs as a new execution with its parameters.',
  discard: 'Discard', discardTitle: 'Discard one dead letter of {name}? | Discard {n} dead letters of {name}?',
  discardText: 'They wait no longer for a replay. The executions stay in the history.',
}
