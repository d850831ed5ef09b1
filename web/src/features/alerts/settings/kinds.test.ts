import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hasText } from '@/shared/text'
import { ruleTypes } from '../alert'
import en from '../texts/en'
import zh from '../texts/zh-CN'
import { REMOVED, bodyOf, channelTypes, fieldsOf, kinds, proposed, titleOf, valuesOf } from './kinds'

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
  it('propose that a new route gathers alerts of one kind and group', () => {
    const fields = fieldsOf('routes', '')
    expect(bodyOf(fields, { ...valuesOf(fields, proposed), name: 'r' })).toEqual({ name: 'r', groupBy: ['group', 'alertname'], enabled: true })
  })
  it('have a word for each field, whatever the type', () => {
    const types = (kind: string): readonly string[] => (kind === 'rules' ? ruleTypes : kind === 'channels' ? channelTypes : [''])
    const all = kinds.flatMap((kind) => types(kind).flatMap((type) => fieldsOf(kind, type).map(titleOf)))
    expect([...new Set(all)].filter((key) => !hasText(key))).toEqual([])
  })
  it('are named by the user guide, and by the Chinese first page', () => {
    const pages: [string, typeof en][] = [['guide/en/4-alerts.md', en], ['guide/zh-CN/4-alerts.md', zh], ['README.zh-CN.md', zh]]
    for (const [page, texts] of pages) {
      const text = readFileSync(`../docs/${page}`, 'utf8').toLowerCase()
      expect(Object.values(texts.channelType).filter((word) => !text.includes(word.toLowerCase())), page).toEqual([])
    }
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
