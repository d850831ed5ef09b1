import { describe, expect, it } from 'vitest'
import { differences, merged } from './conflict'

const before = { name: 'a', timeoutSec: 5, jobData: { url: 'http://x', method: 'GET' }, owner: 'ann' }
const theirs = { name: 'a', timeoutSec: 9, jobData: { url: 'http://y', method: 'GET' } }
const mine = { name: 'b', timeoutSec: 7, jobData: { url: 'http://x', method: 'POST' }, owner: 'ann' }

describe('a conflict', () => {
  it('shows what is different there, and what both changed', () => {
    expect(differences(before, theirs, mine)).toEqual([
      { field: 'jobData.url', before: 'http://x', theirs: 'http://y', mine: 'http://x', clash: false },
      { field: 'owner', before: 'ann', theirs: '', mine: 'ann', clash: false },
      { field: 'timeoutSec', before: '5', theirs: '9', mine: '7', clash: true },
    ])
  })

  it('is merged: what was changed here stays, the rest is theirs', () => {
    const form = { name: 'a', list: [1], deep: { x: 1, y: 1 } }
    expect(merged(form, { name: 'a', list: [1, 2], deep: { x: 2, y: 2 } }, { name: 'b', list: [1], deep: { x: 1, y: 3 } }))
      .toEqual({ name: 'b', list: [1, 2], deep: { x: 2, y: 3 } })
  })
})
