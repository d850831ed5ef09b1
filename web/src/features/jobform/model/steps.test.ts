import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { storedJob } from '@/test/job'
import { yamlOf, type Body } from '@/shared/text/yaml'
import { bodyOf } from './body'
import { formOf, newJob } from './job'
import { drawnSteps, readSteps } from './steps'
import { refusalOf } from './trial'

const documents = ['nightly-settlement', 'score-customers', 'release-price-list'].map((name) => {
  const { data } = readSteps(readFileSync(`../docs/workflows/${name}.yaml`, 'utf8'))
  return { name, flow: (data?.['workflows'] as Body[])[0] as Body }
})

describe('the YAML of a workflow', () => {
  it.each(documents)('comes back as it was: $name', ({ flow }) => {
    const data: Body = { onStepFailure: 'HOLD', steps: flow['steps'] ?? [] }
    expect(readSteps(yamlOf(data)).data).toEqual(data)
  })

  it('keeps texts that look like something else', () => {
    const data: Body = { steps: [{ name: 'no', when: 'a: b # c', http: { body: '{"run": "${run.id}"}\n\n', url: "it's", headers: { on: 'yes', n: '007', d: '2026-11-28' } } }] }
    expect(readSteps(yamlOf(data)).data).toEqual(data)
  })

  it('names the line of a field, or of what is next above it', () => {
    const read = readSteps('onStepFailure: HOLD\nsteps:\n- name: a\n  wait: {forSec: 1}\n- name: b\n  needs:\n  - a\n  when: rows > 1\n')
    expect(['onStepFailure', 'steps', 'steps[0]', 'steps[1].needs[0]', 'steps[1].when', 'steps[1].join', 'nothing'].map(read.lineOf)).toEqual([1, 3, 3, 7, 8, 5, 0])
  })

  it('says what it cannot read, and where', () => {
    expect(readSteps('steps:\n- name: a\n  when: "x\n')).toMatchObject({ data: null, line: expect.any(Number) })
    expect(readSteps('steps:\n- name: a\n  when: "x\n').error).not.toBe('')
    expect(readSteps('a: 1\na: 2\n')).toMatchObject({ data: null, line: 2 })
    for (const text of ['', '- a\n', 'just words', '5']) expect(readSteps(text).data, text).toBeNull()
  })

  it('does not swell by aliases', () => {
    const bomb = `a: &a [x, x, x, x, x, x, x, x, x, x]\n${['b', 'c', 'd', 'e', 'f'].map((n, i) => `${n}: &${n} [${Array(10).fill(`*${'abcde'[i] ?? ''}`).join(', ')}]`).join('\n')}\n`
    expect(readSteps(bomb)).toMatchObject({ data: null, error: expect.stringContaining('alias') })
  })
})

describe('the graph beside it', () => {
  it('has the steps, their kinds and edges', () => {
    const flow = documents.find(({ name }) => name === 'release-price-list')?.flow ?? null
    expect(drawnSteps(flow).map((s) => [s.name, s.kind, s.needs.map((n) => `${n.step}:${n.on.join('+')}`).join(' '), s.finally])).toEqual([
      ['build', 'command', '', false], ['approve', 'approval', 'build:success', false], ['publish', 'http', 'build:success approve:success+skipped', false],
      ['roll-back', 'http', 'publish:failure', false], ['tell', 'custom', '', true],
    ])
  })

  it('bears a draft', () => {
    const half = readSteps('steps:\n- name: a\n- 5\n- needs: [a]\n- name: a\n- name: b\n  needs: [a, 5, {on: x}, {step: c, on: 7}]\n').data
    expect(drawnSteps(half)).toMatchObject([{ name: 'a', kind: 'none', needs: [] }, { name: 'b', needs: [{ step: 'a', on: ['success'] }, { step: 'c', on: ['success'] }] }])
    for (const data of [null, {}, { steps: 'x' }] as (Body | null)[]) expect(drawnSteps(data)).toEqual([])
  })
})

describe('the form of a workflow', () => {
  const jobData = { onStepFailure: 'HOLD', holdSec: 60, steps: [{ name: 'a', wait: { forSec: 1 } }] }
  const stored = storedJob({ jobType: 'WORKFLOW', jobData: jobData as never })

  it('sends the steps that it read, without what its steps have instead', () => {
    expect(bodyOf(formOf(stored))).toMatchObject({ jobType: 'WORKFLOW', jobData })
    const form = { ...formOf(stored), shardCount: 3, broadcast: true, onNodeLoss: 'FAIL' as const, retryPolicy: { ...newJob('').retryPolicy, maxRetries: 2 } }
    expect(Object.keys(bodyOf(form)).filter((name) => ['retryPolicy', 'shardCount', 'broadcast', 'routing', 'onNodeLoss'].includes(name))).toEqual([])
    expect(bodyOf({ ...form, jobType: 'HTTP' })).toMatchObject({ shardCount: 3, broadcast: true, onNodeLoss: 'FAIL', retryPolicy: { maxRetries: 2 } })
  })

  it('sends nothing while the YAML cannot be read', () => {
    const form = formOf(stored)
    form.workflow = { yaml: 'steps: [', data: null }
    expect(() => bodyOf(form)).toThrow('yaml')
  })

  it('begins with steps that are one with their text', () => {
    const { yaml, data } = newJob('').workflow
    expect(readSteps(yaml).data).toEqual(data)
  })

  it('offers no trial', () => {
    expect(refusalOf(formOf(stored), () => true)).toBe('workflow')
  })
})
