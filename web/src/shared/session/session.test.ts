import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Model } from '@/shared/api/types'
import { client, data } from '@/shared/api/client'
import { anotherUser, can, changePassword, goOn, onUserChange, resume, sessionIsOver, signIn, signOut, signedIn, user } from './session'

type Me = Model<'Me'>

const me: Me = {
  id: '1', username: 'ann', role: 'operator', commands: false, secrets: false, groups: null, mustChangePassword: false, csrfToken: 'token-of-ann',
  permissions: ['self', 'account', 'job:read', 'job:write', 'execution:read'],
}

let answers: Record<string, () => Response>
let calls: Request[]

function json(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } })
}

const unknown = () => json({ code: 'unauthenticated', detail: 'sign in', status: 401 }, 401)

beforeEach(async () => {
  calls = []
  answers = {
    'GET /api/v1/auth/me': () => json(me),
    'POST /api/v1/auth/login': () => json({ expiresAt: '2026-01-01T00:00:00Z', user: me, csrfToken: 'token-of-ann' }),
    'POST /api/v1/auth/logout': () => new Response(null, { status: 204 }),
  }
  vi.stubGlobal('fetch', async (request: Request) => {
    calls.push(request)
    const found = answers[`${request.method} ${new URL(request.url).pathname}`]
    if (!found) throw new TypeError('nobody answers')
    return found()
  })
  await signOut()
  calls = []
})

describe('the session', () => {
  it('signs in by a cookie, and changing calls carry the token against forgery', async () => {
    await signIn('ann', 'a password')
    expect(await calls[0]?.json()).toEqual({ username: 'ann', password: 'a password', cookie: true })
    expect(user.value?.username).toBe('ann')
    await signOut()
    expect(calls.at(-1)?.headers.get('X-CSRF-Token')).toBe('token-of-ann')
    expect(signedIn.value).toBe(false)
    expect(sessionIsOver.value).toBe(false)
  })

  it('is nobody without a session, and keeps who it knew while the server is away', async () => {
    answers['GET /api/v1/auth/me'] = unknown
    await resume()
    expect(signedIn.value).toBe(false)
    expect(sessionIsOver.value).toBe(false)

    answers['GET /api/v1/auth/me'] = () => json(me)
    await resume()
    delete answers['GET /api/v1/auth/me']
    await expect(resume()).rejects.toMatchObject({ offline: true })
    expect(signedIn.value).toBe(true)
  })

  it('keeps the page of a session that is over, and its calls wait for the same user', async () => {
    await signIn('ann', 'a password')
    const changed = vi.fn()
    onUserChange(changed)
    answers['GET /api/v1/nodes'] = unknown
    const read = data(client.GET('/api/v1/nodes'))
    await vi.waitFor(() => expect(sessionIsOver.value).toBe(true))
    expect(user.value?.username).toBe('ann')

    // One that begins now is not sent at all until then.
    const sent = calls.length
    const other = data(client.GET('/api/v1/nodes'))
    await new Promise((done) => setTimeout(done, 10))
    expect(calls).toHaveLength(sent)

    answers['GET /api/v1/nodes'] = () => json({ items: [] })
    await signIn('ann', 'a password')
    expect(await Promise.all([read, other])).toEqual([{ items: [] }, { items: [] }])
    expect(sessionIsOver.value).toBe(false)
    expect(changed).not.toHaveBeenCalled()
  })

  it('gives the page to another user by a word alone, and sends nothing in the name of that one', async () => {
    await signIn('ann', 'a password')
    const changed = vi.fn()
    onUserChange(changed)
    answers['GET /api/v1/nodes'] = unknown
    const read = data(client.GET('/api/v1/nodes')).catch((failure: unknown) => failure)
    await vi.waitFor(() => expect(sessionIsOver.value).toBe(true))

    answers['GET /api/v1/nodes'] = () => json({ items: [] })
    answers['GET /api/v1/auth/me'] = () => json({ ...me, id: '2', username: 'bob', csrfToken: 'token-of-bob' })
    await signIn('bob', 'a password')
    expect([user.value?.username, anotherUser.value?.username, sessionIsOver.value]).toEqual(['ann', 'bob', true])
    const sent = calls.length
    goOn()
    expect(await read).toMatchObject({ status: 401 })
    expect(calls).toHaveLength(sent)
    expect([user.value?.username, anotherUser.value, sessionIsOver.value]).toEqual(['bob', null, false])
    expect(changed).toHaveBeenCalledOnce()
  })

  it('goes on after a change of the password that was forced, and ends after one of its own accord', async () => {
    answers['GET /api/v1/auth/me'] = () => json({ ...me, mustChangePassword: true })
    await resume()
    answers['POST /api/v1/auth/password'] = () => new Response(null, { status: 204 })
    answers['GET /api/v1/auth/me'] = () => json({ ...me, csrfToken: 'next' })
    expect(await changePassword('a', 'b', false)).toBe(true)
    expect(user.value?.mustChangePassword).toBe(false)
    expect(await changePassword('b', 'c', false)).toBe(false)
    expect(signedIn.value).toBe(false)
  })
})

describe('can', () => {
  async function as(changes: Partial<Me>): Promise<void> {
    answers['GET /api/v1/auth/me'] = () => json({ ...me, ...changes })
    await resume()
  }

  it('holds what the role holds, in every group of a user who is bound to none', async () => {
    await as({})
    expect(can('job:write')).toBe(true)
    expect(can('job:write', 'payments')).toBe(true)
    expect(can('job:write', null)).toBe(true)
    expect(can('node:write')).toBe(false)
  })

  it('holds in a group what both roles hold', async () => {
    await as({ groups: { payments: 'operator', audit: 'viewer' } })
    expect(can('job:write')).toBe(true)
    expect(can('job:write', 'payments')).toBe(true)
    expect(can('job:write', 'audit')).toBe(false)
    expect(can('job:read', 'audit')).toBe(true)
    expect(can('job:read', 'other')).toBe(false)
    expect(can('job:write', null)).toBe(false)
  })
})
