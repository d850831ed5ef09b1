import { describe, expect, it } from 'vitest'
import { bodyOf, changeOf, FormError, scheduleOf } from './body'
import { storedJob as job } from '@/test/job'
import { choosePolicy, formOf, newJob } from './job'

describe('the request of a form', () => {
  it('of a new job holds what is needed, and no default', () => {
    const form = newJob('Asia/Shanghai')
    form.name = ' ping '
    form.http.url = 'https://example.com/ '
    expect(bodyOf(form)).toEqual({
      name: 'ping', jobType: 'HTTP', jobData: { method: 'GET', url: 'https://example.com/' },
      schedule: { kind: 'CRON', cronExpression: '0 0 2 * * ?', timeZone: 'Asia/Shanghai' },
    })
  })

  it('sends what is empty but needed, so that the server names it', () => {
    const body = bodyOf(newJob(''))
    expect(body['name']).toBe('')
    expect(body['jobData']).toMatchObject({ url: '' })
  })

  it('has the program or the script of a command, never both', () => {
    const form = { ...newJob(''), jobType: 'COMMAND' as const }
    Object.assign(form.command, { command: ['df', '-h'], script: 'echo', successExitCodes: '0, 3，x', memoryMb: 64 })
    expect(bodyOf(form)['jobData']).toEqual({ interpreter: 'sh', script: 'echo', memoryMb: 64, successExitCodes: [0, 3, 'x'] })
    form.command.kind = 'command'
    expect(bodyOf(form)['jobData']).toEqual({ command: ['df', '-h'], memoryMb: 64, successExitCodes: [0, 3, 'x'] })
  })

  it('names the field where data is no JSON object', () => {
    const form = { ...newJob(''), jobType: 'CUSTOM' as const, jobClass: 'echo', custom: '{"a": ' }
    expect(() => bodyOf(form)).toThrow(FormError)
    form.custom = '[1]'
    expect(() => bodyOf(form)).toThrow('object')
    form.custom = '{"a": 1}'
    expect(bodyOf(form)).toMatchObject({ jobClass: 'echo', jobData: { a: 1 } })
  })

  it('has of the schedule what its kind needs', () => {
    const form = newJob('')
    form.schedule.at = '2099-01-01T00:00:00.000Z'
    form.schedule.kind = 'ONCE'
    expect(scheduleOf(form)).toEqual({ kind: 'ONCE', at: '2099-01-01T00:00:00.000Z' })
    form.schedule.kind = 'FIXED_RATE'
    expect(scheduleOf(form)).toEqual({ kind: 'FIXED_RATE', intervalMs: 60_000 })
    form.schedule.kind = 'NONE'
    expect(bodyOf(form)).not.toHaveProperty('schedule')
  })

  it('has the window of the misfire policy, unless somebody set another', () => {
    const schedule = newJob('UTC').schedule
    expect(schedule).toMatchObject({ misfirePolicy: 'FIRE_ONCE', misfireWindowSec: 31_536_000 })
    for (const [policy, seconds] of [['FIRE_ALL', 86_400], ['FIRE_ONCE', 31_536_000], ['SKIP', 86_400], ['FIRE_ALL', 86_400]] as const) {
      choosePolicy(schedule, policy)
      expect(schedule).toMatchObject({ misfirePolicy: policy, misfireWindowSec: seconds })
    }
    schedule.misfireWindowSec = 3_600
    choosePolicy(schedule, 'FIRE_ONCE')
    expect(schedule.misfireWindowSec).toBe(3_600)
  })

  it('of an edit leaves the state of the job alone', () => {
    expect(changeOf({ ...newJob(''), enabled: false })).not.toHaveProperty('enabled')
  })

  it('gives defaults of parameters their type', () => {
    const form = newJob('')
    const p = { required: false, description: '', values: [] }
    form.parameters = [
      { ...p, name: 'n', type: 'INTEGER', default: '5' }, { ...p, name: 'b', type: 'BOOLEAN', default: 'false' },
      { ...p, name: 's', type: 'STRING', default: '5' }, { ...p, name: 'x', type: 'INTEGER', default: 'five' },
      { ...p, name: 'e', type: 'ENUM', default: '', values: ['a'] },
    ]
    expect(bodyOf(form)['parameters']).toEqual([
      { name: 'n', type: 'INTEGER', default: 5 }, { name: 'b', type: 'BOOLEAN', default: false },
      { name: 's', default: '5' }, { name: 'x', type: 'INTEGER', default: 'five' }, { name: 'e', type: 'ENUM', values: ['a'] },
    ])
  })
})

describe('the form of a job', () => {
  it('makes the same request again', () => {
    const form = formOf(job({
      labels: { team: 'pay' }, timeoutSec: 30, jobData: { method: 'POST', url: 'http://x', headers: { A: '1' }, body: '{}', expectedStatus: '200', async: true } as never,
      deadline: { at: '06:00', timeZone: 'UTC', onMiss: 'CANCEL' }, overlapPolicy: 'SERIAL',
    }))
    expect(changeOf(form)).toEqual({
      name: 'a', group: 'default', labels: { team: 'pay' }, jobType: 'HTTP',
      jobData: { method: 'POST', url: 'http://x', headers: { A: '1' }, body: '{}', expectedStatus: '200', async: true },
      schedule: { kind: 'CRON', cronExpression: '0 0 2 * * ?', timeZone: 'UTC' }, timeoutSec: 30, overlapPolicy: 'SERIAL',
      deadline: { at: '06:00', timeZone: 'UTC', onMiss: 'CANCEL' },
    })
  })

  it('knows a job that somebody paused from one that its group holds', () => {
    expect(formOf(job({ status: 'PAUSED', pausedBy: 'JOB' })).enabled).toBe(false)
    expect(formOf(job({ status: 'PAUSED', pausedBy: 'GROUP' })).enabled).toBe(true)
  })

  it('reads commands of either kind', () => {
    expect(formOf(job({ jobType: 'COMMAND', jobData: { command: ['df', 1] } as never })).command).toMatchObject({ kind: 'command', command: ['df', '1'] })
    expect(formOf(job({ jobType: 'COMMAND', jobData: { script: 'x', interpreter: 'python3' } as never })).command).toMatchObject({ kind: 'script', interpreter: 'python3' })
  })
})
