import { describe, expect, it } from 'vitest'
import { declaredOf, pretty, refusalOf, trialOf } from './trial'

describe('a trial of a draft', () => {
  it('sends the draft with params, and a name where it has none', () => {
    expect(trialOf({ name: '', jobType: 'CUSTOM' }, {})).toEqual({ name: 'trial', jobType: 'CUSTOM' })
    expect(trialOf({ name: 'a', jobType: 'CUSTOM' }, { day: 1 })).toEqual({ name: 'a', jobType: 'CUSTOM', params: { day: 1 } })
  })

  it('asks for what the draft declares', () => {
    expect(declaredOf({})).toEqual([])
    expect(declaredOf({ parameters: [{ name: 'n', type: 'INTEGER', default: 3 }, { name: '' }] })).toEqual([
      { name: 'n', type: 'INTEGER', default: 3, description: '', required: false, values: [] },
    ])
  })

  it('is for who may write and run such a job in its group', () => {
    const may = (...held: string[]) => (p: string, group?: string) => held.includes(group === undefined ? p : `${p} ${group}`)
    const job = { group: ' ', jobType: 'HTTP' as const }
    expect(refusalOf(job, may('job:write default', 'job:run default'))).toBe('')
    expect(refusalOf(job, may('job:run default'))).toBe('write')
    expect(refusalOf(job, may('job:write default'))).toBe('run')
    expect(refusalOf({ ...job, group: 'other' }, may('job:write default', 'job:run default'))).toBe('write')
    const command = { group: 'default', jobType: 'COMMAND' as const }
    expect(refusalOf(command, may('job:write default', 'job:run default'))).toBe('command')
    expect(refusalOf(command, may('job:write default', 'job:run default', 'job:command'))).toBe('')
  })

  it('shows JSON with indents, and other results as they are', () => {
    expect(pretty('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}')
    expect(pretty('{no')).toBe('{no')
    expect(pretty('12345678901234567890')).toBe('12345678901234567890')
  })
})
