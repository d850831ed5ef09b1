import { describe, expect, it } from 'vitest'
import { REMOVED, bodyOf, channelTypes, fieldsOf, valuesOf } from './kinds'

describe('definitions', () => {
  it('keep a secret that is not typed anew, and never show it', () => {
    const fields = fieldsOf('channels', 'DINGTALK')
    const values = valuesOf(fields, { name: 'chat', type: 'DINGTALK', config: { atAll: true, webhook: 'leaked' }, enabled: true })
    expect(values['config.webhook']).toBe('')
    expect(bodyOf(fields, values)).toEqual({ name: 'chat', type: 'DINGTALK', config: { atAll: true }, enabled: true })
    expect(bodyOf(fields, { ...values, 'config.secret': 'new' })).toMatchObject({ config: { secret: 'new' } })
  })
  it('remove a secret that somebody takes away, and exchange keys', () => {
    const fields = fieldsOf('channels', 'WEBHOOK')
    const values = valuesOf(fields, { name: 'hook', type: 'WEBHOOK', config: { url: 'http://h' }, enabled: true })
    expect(bodyOf(fields, { ...values, 'config.secret': REMOVED, 'config.secrets': REMOVED }))
      .toMatchObject({ config: { url: 'http://h', secret: '', secrets: [] } })
    expect(bodyOf(fields, { ...values, 'config.secrets': 'old-key\n new-key \n' })).toMatchObject({ config: { secrets: ['old-key', 'new-key'] } })
  })
  it('clear the last field of a configuration, and keep its secrets', () => {
    const fields = fieldsOf('channels', 'SLACK')
    const values = valuesOf(fields, { name: 'chat', type: 'SLACK', config: { mentions: ['here'] }, enabled: true })
    expect(bodyOf(fields, { ...values, 'config.mentions': '' })).toEqual({ name: 'chat', type: 'SLACK', config: {}, enabled: true })
  })
  it('read lines and labels both ways', () => {
    const fields = fieldsOf('routes', '')
    const route = { name: 'r', match: { team: 'a=b', tier: '1' }, groupBy: ['job', 'group'], channelIds: ['c'], enabled: true }
    expect(bodyOf(fields, valuesOf(fields, route))).toEqual(route)
  })
  it('have fields for each kind of channel, and those of rules by type', () => {
    for (const type of channelTypes) expect(fieldsOf('channels', type).some((f) => f.name.startsWith('config.'))).toBe(true)
    const names = (type: string) => fieldsOf('rules', type).map((f) => f.name)
    expect(names('EXPRESSION')).toContain('expression')
    expect(names('JOB_FAILED')).not.toContain('threshold')
    expect(names('FAILURE_RATE')).toContain('windowSec')
    expect(names('NODE_DOWN')).not.toContain('group')
  })
})
