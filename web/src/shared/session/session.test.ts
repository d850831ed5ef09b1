import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Model } from '@/shared/api/types'
import { can, onUserChange, resume, sessionIsOver, signIn, signOut, signedIn, user } from './session'

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

  it('says that a session ended when any call is refused for want of one', async () => {
    await signIn('ann', 'a password')
    const changed = vi.fn()
    onUserChange(changed)
    answers['GET /api/v1/auth/me'] = unknown
    await resume()
    expect(signedIn.value).toBe(false)
    expect(sessionIsOver.value).toBe(true)
    expect(changed).toHaveBeenCalledOnce()
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
