import { describe, expect, it } from 'vitest'
import { cut } from './cut'

const lines = `--- # of the shop
version: 1
"groups":
- {name: pay}   # once
jobs:
  # the first
  - name: a
    script: |+
      - name: not a job

  - name: b
  # the third
  - {name: c}
alerting:
  rules: [{name: late}]
...
`

describe('a document in parts', () => {
  it('keeps each job as it is written, groups first and alert settings last', () => {
    expect(cut(lines, 3, 2)).toEqual([
      { jobs: 2, text: '--- # of the shop\nversion: 1\n"groups":\n- {name: pay}   # once\njobs:\n  # the first\n  - name: a\n    script: |+\n      - name: not a job\n\n  - name: b\n  # the third\n' },
      { jobs: 1, text: '--- # of the shop\nversion: 1\njobs:\n  # the first\n  - {name: c}\nalerting:\n  rules: [{name: late}]\n...\n' },
    ])
  })

  it('may be JSON', () => {
    const job = (name: string) => ({ name, labels: { a: '}],{' }, timeoutSec: 1e21 })
    const document = { version: 1, alerting: { rules: [] }, jobs: [job('a'), job('b'), job('c')], groups: [{ name: 'pay' }] }
    for (const text of [JSON.stringify(document), JSON.stringify(document, null, 2)]) {
      expect(cut(text, 3, 1).map((part) => JSON.parse(part.text))).toEqual([
        { version: 1, jobs: [job('a')], groups: [{ name: 'pay' }] }, { version: 1, jobs: [job('b')] },
        { version: 1, jobs: [job('c')], alerting: { rules: [] } },
      ])
    }
  })

  it('has alert settings and a last line without an end', () => {
    expect(cut('alerting: {}\njobs:\n- a: 1\n- b: 2', 2, 1).map((part) => part.text)).toEqual(['jobs:\n- a: 1\n', 'alerting: {}\njobs:\n- b: 2'])
  })

  it.each([
    ['jobs that are not told apart', 'jobs: [{name: a},\n {name: b}]\n'], ['another count of jobs', 'jobs:\n- name: a\n'], ['no jobs', 'version: 1\n'],
    ['what is no YAML', 'jobs:\n- name: a\n- name: [b\n'], ['nothing', ''], ['a field behind a mark', '--- jobs:\n- a: 1\n- b: 2\n'],
  ])('stays whole: %s', (_, text) => expect(cut(text, 2, 1)).toEqual([{ text, jobs: 2 }]))
})
