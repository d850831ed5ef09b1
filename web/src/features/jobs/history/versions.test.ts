import { describe, expect, it } from 'vitest'
import type { Version } from './queries'
import { changesOf, pairOf, written, yamlOf } from './versions'

const definition = (more: Record<string, unknown>) => ({
  id: '1', name: 'settle', version: 3, status: 'ENABLED', nextFireTime: null, pauseReason: 'moves', priority: 5, timeoutSec: 0, owner: '',
  labels: { team: 'billing' }, schedule: { kind: 'CRON', cronExpression: '0 0 3 * * ?', at: null, endTime: null },
  jobData: { script: 'echo one\necho two\n' }, parameters: [], deadline: null, ...more,
}) as unknown as Version['definition']

describe('a version', () => {
  it('is written without what the server adds and what is empty', () => {
    expect(written(definition({}))).toEqual({
      name: 'settle', priority: 5, timeoutSec: 0, labels: { team: 'billing' }, schedule: { kind: 'CRON', cronExpression: '0 0 3 * * ?' },
      jobData: { script: 'echo one\necho two\n' },
    })
    expect(yamlOf(definition({}))).toContain('  jobData:\n    script: |\n      echo one\n')
  })

  it('differs from another by paths', () => {
    const other = definition({
      version: 4, status: 'PAUSED', priority: 7, labels: { team: 'billing', tier: 'gold' }, schedule: { kind: 'FIXED_RATE', intervalMs: 5 },
      deadline: { at: '06:00' }, parameters: [{ name: 'day' }],
    })
    expect(changesOf(definition({}), other)).toEqual({
      priority: [5, 7], 'labels.tier': [undefined, 'gold'], 'schedule.kind': ['CRON', 'FIXED_RATE'],
      'schedule.cronExpression': ['0 0 3 * * ?', undefined], 'schedule.intervalMs': [undefined, 5], 'deadline.at': [undefined, '06:00'],
      parameters: [undefined, [{ name: 'day' }]],
    })
  })

  it('differs in its state only where that is asked for', () => {
    expect(changesOf(definition({}), definition({ status: 'PAUSED' }))).toEqual({})
    expect(changesOf(definition({}), definition({ status: 'PAUSED' }), ['status'])).toEqual({ status: ['ENABLED', 'PAUSED'] })
  })

  it('keeps empty texts where the names are people\'s own', () => {
    const empty = definition({ labels: { team: 'billing', note: '' } })
    expect(yamlOf(empty)).toContain('    note: ""\n')
    expect(changesOf(definition({}), empty)).toEqual({ 'labels.note': [undefined, ''] })
  })

  it('is equal to itself', () => expect(changesOf(definition({}), definition({ updateTime: 'later', owner: null }))).toEqual({}))
})

describe('the versions that are compared', () => {
  it.each<[number[], number, number, [number, number] | undefined]>([
    [[5, 4, 3], 0, 0, [4, 5]], [[5, 4, 3], 3, 5, [3, 5]], [[5, 4, 3], 5, 3, [3, 5]], [[5, 4, 3], 4, 4, [3, 4]], [[5, 4, 3], 9, 4, [3, 4]],
    [[5, 4, 3], 3, 0, [3, 5]], [[5, 4, 3], 0, 3, [3, 5]], [[1], 0, 0, undefined], [[], 1, 2, undefined],
  ])('of %j, asked for %i and %i, are %j', (known, from, to, pair) => expect(pairOf(known, from, to)).toEqual(pair))
})
