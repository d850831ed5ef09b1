import { describe, expect, it } from 'vitest'
import { asked, sees, silenceOf, silences } from './concern'

const job = { id: 'j1', name: 'settle', group: 'pay', labels: { team: 'billing' }, deadline: null, jobType: 'HTTP' as const }
const anything = { groups: [], jobIds: [], labels: {}, steps: false }
type Rule = Parameters<typeof sees>[0]
const rule = (more: Partial<Rule> = {}): Rule => ({ type: 'JOB_FAILED', group: null, scope: anything, ...more })

describe('a rule', () => {
  it.each<[string, Partial<Rule>, boolean]>([
    ['without a scope', {}, true],
    ['of its group', { group: 'pay' }, true],
    ['of another group', { group: 'mail' }, false],
    ['that names it', { scope: { ...anything, jobIds: ['j0', 'j1'] } }, true],
    ['that names others', { scope: { ...anything, jobIds: ['j0'] } }, false],
    ['of its groups', { scope: { ...anything, groups: ['pay'] } }, true],
    ['of other groups', { scope: { ...anything, groups: ['mail'] } }, false],
    ['of its labels', { scope: { ...anything, labels: { team: 'billing' } } }, true],
    ['of a label that it lacks', { scope: { ...anything, labels: { team: 'billing', tier: 'gold' } } }, false],
    ['that names it in another group', { scope: { ...anything, jobIds: ['j1'], groups: ['mail'] } }, false],
    ['about the cluster', { type: 'NODE_DOWN' }, false],
    ['about deadlines', { type: 'DEADLINE_MISSED' }, false],
    ['about held steps', { type: 'STEP_HELD' }, false],
  ])('%s sees the job: %o', (_, more, whether) => expect(sees(rule(more), job)).toBe(whether))

  it('about deadlines sees a job that has one', () => {
    expect(sees(rule({ type: 'DEADLINE_MISSED' }), { ...job, deadline: { at: '06:00', timeZone: 'UTC', onMiss: 'ALERT' } })).toBe(true)
  })
})

it('a rule about held steps sees a workflow', () => {
  expect(sees(rule({ type: 'STEP_HELD' }), { ...job, jobType: 'WORKFLOW' })).toBe(true)
})

describe('a silence', () => {
  it.each([
    [{ job: 'settle' }, null, true], [{ group: 'pay' }, null, true], [{ team: 'billing' }, 'pay', true], [{ job: 'settle' }, 'mail', false],
    [{ job: 'other' }, null, false], [{ job: 'settle', alertname: 'TIMEOUT' }, null, false],
  ])('of %o in the group %s holds back everything of the job: %o', (match, group, whether) => {
    expect(silences({ match, group }, job)).toBe(whether)
  })

  it('of one job holds back that one, and no other of the same name', () => {
    const body = silenceOf(job, '2026-11-22T00:00:00Z', 'the ledger moves')
    expect(body).toEqual({ match: { job: 'settle', group: 'pay' }, group: 'pay', to: '2026-11-22T00:00:00Z', comment: 'the ledger moves' })
    expect(silences({ match: body.match, group: 'pay' }, job)).toBe(true)
    expect(silences({ match: body.match, group: 'pay' }, { ...job, group: 'mail' })).toBe(false)
  })
})

it('a job says whom it tells of what', () => {
  const none = { onSuccess: [], onEnd: [], onLate: ['mail'], onRecovered: [], lateAfterSec: 0 }
  expect(asked({ ...none, onFailure: ['chat', 'mail'] })).toEqual([{ event: 'onFailure', channels: ['chat', 'mail'] }, { event: 'onLate', channels: ['mail'] }])
})
