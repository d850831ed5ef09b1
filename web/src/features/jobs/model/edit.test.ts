import { describe, expect, it } from 'vitest'
import type { Model } from '@/shared/api/types'
import { changed, each, labelsOf, namesOf } from './edit'

const job = { name: 'settle', priority: 5, labels: { team: 'billing', tier: 'gold' } } as unknown as Model<'Job'>

describe('a change of many jobs', () => {
  it('sets and removes labels, and keeps the others', () => {
    expect(changed(job, { set: { team: 'mail', zone: 'a' }, remove: ['tier'] }).labels).toEqual({ team: 'mail', zone: 'a' })
    expect(changed(job, { set: { zone: 'a' }, remove: ['zone'] })).toBe(job)
  })
  it('sets the priority', () => expect(changed(job, { priority: 9 })).toEqual({ ...job, priority: 9 }))
  it('makes no version where nothing differs', () => {
    expect(changed(job, { priority: 5 })).toBe(job)
    expect(changed(job, { set: { tier: 'gold' } })).toBe(job)
    expect(changed(job, { remove: ['none'] })).toBe(job)
  })
  it.each([['team=billing\n url = a=b \n', { team: 'billing', url: 'a=b' }], ['', {}], ['team', undefined], ['=x', undefined]])('reads labels of %j as %j', (text, labels) => {
    expect(labelsOf(text)).toEqual(labels)
  })
  it('reads names', () => expect(namesOf('team, tier\nzone,')).toEqual(['team', 'tier', 'zone']))
})

describe('each of many', () => {
  it('is done a few at a time, and has its own result', async () => {
    let [now, most] = [0, 0]
    const act = async (n: number) => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setTimeout(resolve, 5 - n))
      now--
      if (n === 2) throw new Error('no')
      return `${n} done`
    }
    expect(await each([1, 2, 3, 4], 2, act, (n, failure) => `${n} ${String(failure)}`)).toEqual(['1 done', '2 Error: no', '3 done', '4 done'])
    expect(most).toBe(2)
    expect(await each([], 2, act, () => '')).toEqual([])
  })
})
