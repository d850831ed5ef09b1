import { beforeAll, describe, expect, it } from 'vitest'
import { readFileSync } from 'node:fs'
import { setLanguage } from '@/shared/text'
import { actionOf, changesOf, resultOf, wasDone } from './actions'

beforeAll(() => setLanguage('en'))

describe('an entry of the audit', () => {
  it('says what was done, and names the route of a newer server', () => {
    expect(actionOf({ action: 'PUT /api/v1/jobs/:id' })).toBe('Edited')
    expect(actionOf({ action: 'POST /api/v1/jobs/:id/<b>' })).toBe('POST /api/v1/jobs/:id/<b>')
  })

  it('has a word for each call that changes one job', () => {
    const routes = readFileSync('../docs/routes.md', 'utf8').matchAll(/^\| (POST|PUT|DELETE) \| `(\/api\/v1\/jobs[^`]*)` \|/gm)
    const actions = [...routes].map(([, method, route]) => `${method} ${(route ?? '').replace(/\{(\w+)\}/g, ':$1')}`)
    expect(actions.length).toBeGreaterThan(8)
    // A trial of a definition is about no job.
    expect(actions.filter((action) => actionOf({ action }) === action && action.includes(':id'))).toEqual([])
  })

  it('tells what was done from what was refused or asked again', () => {
    expect([{ status: 200, code: '' }, { status: 403, code: 'forbidden' }, { status: 202, code: 'replayed' }, { status: 500, code: '' }].map((e) => [wasDone(e), resultOf(e)]))
      .toEqual([[true, 'Done'], [false, 'Refused: forbidden'], [false, 'Asked again'], [false, 'Refused: 500']])
  })

  it('shows fields before and after, and what is no pair as it is', () => {
    expect(changesOf({ changes: { priority: [5, 7], executionIds: ['a'], reason: 'x' } as never })).toEqual({
      priority: [5, 7], executionIds: [null, ['a']], reason: [null, 'x'],
    })
    expect(changesOf({ changes: null })).toEqual({})
  })
})
