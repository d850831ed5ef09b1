import { flushPromises } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { setLanguage } from '@/shared/text'
import { json, mountAt, serve, signInAs } from '@/test/mount'
import AuditDetail from './audit/AuditDetail.vue'
import { callOf, changesOf, exportAddress, linkOf, noFilters, queryOf, wordsOf } from './audit/audit'
import UserPage from './users/UserPage.vue'
import { bodyOf, newPassword, rightsOf } from './users/user'

const id = '01a20527-5510-7936-9576-15c8e4c3fc67'

describe('the rights of a user', () => {
  const rights = { role: 'operator' as const, bound: true, groups: [{ name: ' a ', role: 'viewer' as const }, { name: '', role: 'operator' as const }], commands: true, secrets: true }

  it('are sent as the server takes them', () => {
    expect(bodyOf(rights)).toEqual({ role: 'operator', commands: true, secrets: true, groups: { a: 'viewer' } })
    expect(bodyOf({ ...rights, bound: false })).toEqual({ role: 'operator', commands: true, secrets: true })
    expect(bodyOf({ ...rights, role: 'admin' })).toEqual({ role: 'admin', commands: false, secrets: false })
    expect(bodyOf({ ...rights, role: 'viewer' })).toEqual({ role: 'viewer', commands: false, secrets: false, groups: { a: 'viewer' } })
  })

  it('come back as they were', () => {
    const user = { id, username: 'u', permissions: [], role: 'viewer' as const, groups: { b: 'viewer' as const }, commands: false, secrets: false, mustChangePassword: false }
    expect(bodyOf(rightsOf(user))).toEqual({ role: 'viewer', commands: false, secrets: false, groups: { b: 'viewer' } })
  })

  it('passwords that are made up differ', () => {
    const made = new Set(Array.from({ length: 50 }, newPassword))
    expect(made.size).toBe(50)
    for (const password of made) expect(password).toMatch(/^([A-HJ-NP-Za-km-z2-9]{5}-){3}[A-HJ-NP-Za-km-z2-9]{5}$/)
  })
})

describe('an entry of the audit log', () => {
  it.each([
    ['POST /api/v1/jobs', 'jobs', 'create'], ['PUT /api/v1/jobs/{id}', 'jobs', 'change'], ['DELETE /api/v1/groups/{name}', 'groups', 'delete'],
    ['POST /api/v1/jobs/{id}/pause', 'jobs', 'pause'], ['POST /api/v1/bulk/dead-letters/replay', 'dead-letters', 'replay'],
    ['POST /api/v1/jobs/{id}/versions/{version}/restore', 'jobs', 'restore'], ['GET /api/v1/audit-logs/export', 'audit-logs', 'export'],
  ])('%s is told as what was done', (action, thing, verb) => expect(callOf(action)).toMatchObject({ thing, verb }))

  it('is told in words, or as the call that this console does not know', async () => {
    expect(wordsOf('POST /api/v1/jobs/{id}/pause')).toBe('Job: pause')
    expect(wordsOf('POST /api/v1/quarks/{id}/spin')).toBe('POST /api/v1/quarks/{id}/spin')
    await setLanguage('zh-CN')
    expect(wordsOf('POST /api/v1/jobs/{id}/pause')).toBe('任务：暂停')
  })

  it('leads to its object, where there is one still', () => {
    const of = (action: string, object: string, status = 200) => linkOf({ action, object, status })
    expect(of('PUT /api/v1/jobs/{id}', id)).toBe(`/jobs/${id}`)
    expect(of('DELETE /api/v1/jobs/{id}', id, 204)).toBeUndefined()
    expect(of('DELETE /api/v1/jobs/{id}', id, 409)).toBe(`/jobs/${id}`)
    expect(of('POST /api/v1/jobs/pause', 'all jobs')).toBeUndefined()
    expect(of('PUT /api/v1/groups/{name}', 'a/b?c')).toBe('/jobs?group=a%2Fb%3Fc')
    expect(of('PUT /api/v1/alert-rules/{id}', id)).toBe(`/alerts/rules/${id}`)
    expect(of('POST /api/v1/auth/login', 'user admin')).toBeUndefined()
  })

  it('shows pairs as before and after, and the rest as after', () => {
    expect(changesOf({ changes: { b: [1, 2], a: 'x' } as never })).toEqual([{ field: 'a', before: undefined, after: 'x' }, { field: 'b', before: 1, after: 2 }])
    expect(changesOf({ changes: null as never })).toEqual([])
  })

  it('is asked for by filters that are set', () => {
    expect(queryOf({ ...noFilters, object: ' x ' }, 'c')).toEqual({ object: 'x', limit: 50, cursor: 'c' })
    expect(exportAddress({ ...noFilters, action: 'POST /api/v1/jobs' })).toBe('/api/v1/audit-logs/export?action=POST+%2Fapi%2Fv1%2Fjobs&format=csv')
  })
})

describe('the pages', () => {
  const user = { id, username: 'only', permissions: [], role: 'admin', groups: null, commands: true, secrets: true }
  const users = (...more: object[]) => () => json({ items: [user, ...more], nextCursor: null })

  it('protect the last admin', async () => {
    serve({ [`GET /api/v1/users/${id}`]: () => json(user), 'GET /api/v1/users': users() })
    await signInAs(['user:admin', 'user:write'])
    const { wrapper } = await mountAt(UserPage, `/users/${id}`, { props: { id } })
    await vi.waitFor(() => expect(wrapper.text()).toContain('This is the only admin'))
    expect(wrapper.findAll('button').map((b) => b.text())).not.toContain('Delete')
  })

  it('say what the server says, where another admin left meanwhile', async () => {
    serve({
      [`GET /api/v1/users/${id}`]: () => json(user), 'GET /api/v1/users': users({ ...user, id: '2' }),
      [`DELETE /api/v1/users/${id}`]: () => json({ code: 'last_admin', detail: 'this is the last admin', status: 409 }, 409),
    })
    await signInAs(['user:admin', 'user:write'])
    const { wrapper } = await mountAt(UserPage, `/users/${id}`, { props: { id } })
    await vi.waitFor(() => expect(wrapper.text()).toContain('Delete'))
    await wrapper.findAll('button').find((b) => b.text() === 'Delete')?.trigger('click')
    await flushPromises()
    const input = wrapper.findAll('[role=dialog] input').at(-1)
    await input?.setValue('only')
    await wrapper.findAll('[role=dialog] form').at(-1)?.trigger('submit')
    await vi.waitFor(() => expect(wrapper.text()).toContain('this is the last admin'))
  })

  it('offer only what may be done', async () => {
    serve({ [`GET /api/v1/users/${id}`]: () => json({ ...user, role: 'viewer' }), 'GET /api/v1/users': users() })
    await signInAs(['user:admin'])
    const { wrapper } = await mountAt(UserPage, `/users/${id}`, { props: { id } })
    await vi.waitFor(() => expect(wrapper.text()).toContain('What the user may do'))
    expect(wrapper.findAll('button').map((b) => b.text()).filter(Boolean)).toEqual([])
  })

  it('show names as texts', async () => {
    const hostile = '<img src=x onerror=alert(1)>'
    const entry = {
      id, time: '2026-11-22T00:00:00Z', userId: '1', username: hostile, tokenId: '', address: '', requestId: '', action: 'POST /api/v1/groups', object: hostile,
      objectName: '{{7*7}}', status: 403, code: 'forbidden', changes: { name: [null, hostile] }, calls: 12,
    }
    const { wrapper } = await mountAt(AuditDetail, '/audit', { props: { modelValue: true, entry } })
    await vi.waitFor(() => expect(wrapper.get('[role=dialog]').text()).toContain(hostile))
    expect(wrapper.find('[role=dialog] img').exists()).toBe(false)
    expect(wrapper.get('[role=dialog]').text()).toContain('{{7*7}}')
    expect(wrapper.get('[role=dialog]').text()).toContain('12 times')
    const change = wrapper.get('[role=dialog] tbody tr').findAll('td')
    expect(change.map((c) => c.text())).toEqual(['–', hostile])
  })
})
