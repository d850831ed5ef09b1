import { describe, expect, it } from 'vitest'
import { documentOf } from './yaml'

describe('the document of a job', () => {
  it('is as people write it', () => {
    expect(documentOf({
      name: 'nightly export', jobType: 'COMMAND', jobData: { interpreter: 'sh', script: 'set -eu\n\necho "$DAY"\n', env: { DAY: '${scheduledTime:yyyy-MM-dd}' } },
      schedule: { kind: 'CRON', cronExpression: '0 30 2 * * ?', timeZone: 'Asia/Shanghai' }, timeoutSec: 60,
      alerts: { onFailure: ['ops', 'on call'] }, parameters: [{ name: 'day', type: 'DATE' }],
    })).toBe(`version: 1
jobs:
- name: nightly export
  jobType: COMMAND
  jobData:
    interpreter: sh
    script: |
      set -eu

      echo "$DAY"
    env:
      DAY: "\${scheduledTime:yyyy-MM-dd}"
  schedule:
    kind: CRON
    cronExpression: "0 30 2 * * ?"
    timeZone: Asia/Shanghai
  timeoutSec: 60
  alerts:
    onFailure: [ops, "on call"]
  parameters:
  - name: day
    type: DATE
`)
  })

  it('holds several, or none', () => {
    expect(documentOf({ name: 'a', labels: { b: 'c' } }, { name: 'd' })).toBe('version: 1\njobs:\n- name: a\n  labels:\n    b: c\n- name: d\n')
    expect(documentOf()).toBe('version: 1\njobs: []\n')
  })

  it.each(['yes', 'no', 'null', '007', '1e3', '- x', 'a: b', 'a #b', ' x', 'x ', '', '*', '&a', '!t', '{a}', '~', '\ttab', 'a\r\nb', '  first\nsecond'])(
    'quotes what YAML would read otherwise: %j', (text) => {
      expect(documentOf({ name: text })).toBe(`version: 1\njobs:\n- name: ${JSON.stringify(text)}\n`)
    })

  it('quotes names of fields that are no plain words', () => {
    expect(documentOf({ labels: { 'a b': 'x', on: 'y' } })).toContain('\n    "a b": x\n    "on": "y"\n')
  })
})
