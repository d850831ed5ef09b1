import { describe, expect, it, vi } from 'vitest'
import { json, serve } from '@/test/mount'
import { client, data, onceKey, onSession, setCsrfToken, tagged } from './client'
import { clockOffset, offline } from './connection'
import { Problem } from './problem'

const list = () => data(client.GET('/api/v1/nodes'))

describe('the client', () => {
  it('throws what the server says, with its fields', async () => {
    serve({
      'GET /api/v1/nodes': () => new Response(JSON.stringify({
        code: 'invalid', detail: 'no', requestId: 'r', errors: [{ field: 'limit', code: 'c', message: 'is too great' }],
      }), { status: 422, headers: { 'Retry-After': '7' } }),
    })
    const problem = await list().catch((p: unknown) => p)
    expect(problem).toBeInstanceOf(Problem)
    expect(problem).toMatchObject({ status: 422, code: 'invalid', requestId: 'r', retryAfter: 7, fields: [{ field: 'limit' }] })
  })

  it('understands answers that are no problem of the server', async () => {
    serve({ 'GET /api/v1/nodes': () => new Response('<html>', { status: 502, statusText: 'Bad Gateway' }) })
    await expect(list()).rejects.toMatchObject({ status: 502, detail: 'Bad Gateway', passing: true })
  })

  it('notes that nobody answers, and that somebody does again', async () => {
    serve({ 'GET /api/v1/nodes': () => { throw new TypeError('Failed to fetch') } })
    await expect(list()).rejects.toMatchObject({ offline: true })
    expect(offline.value).toBe(true)
    serve({ 'GET /api/v1/nodes': () => json({ items: [], nextCursor: null }) })
    await list()
    expect(offline.value).toBe(false)
  })

  it('leaves calls that were given up alone', async () => {
    vi.stubGlobal('fetch', async (request: Request) => {
      request.signal.throwIfAborted()
      return json({})
    })
    const gone = AbortSignal.abort()
    await expect(data(client.GET('/api/v1/nodes', { signal: gone }))).rejects.toMatchObject({ name: 'AbortError' })
    expect(offline.value).toBe(false)
  })

  it('asks about a session that ended, but not for a wrong password, nor a token of its own', async () => {
    const ended = vi.fn((refused: boolean) => (refused ? Promise.resolve(false) : undefined))
    onSession(ended)
    const no = () => json({ code: 'unauthenticated', detail: '' }, 401)
    serve({ 'GET /api/v1/nodes': no, 'POST /api/v1/auth/login': no })
    await expect(list()).rejects.toMatchObject({ status: 401 })
    expect(ended.mock.calls).toEqual([[false], [true]])
    await expect(data(client.POST('/api/v1/auth/login', { body: { username: 'a', password: 'b' } }))).rejects.toMatchObject({ status: 401 })
    const headers = { Authorization: 'Bearer gone' }
    await expect(data(client.GET('/api/v1/nodes', { headers }))).rejects.toMatchObject({ status: 401 })
    expect(ended).toHaveBeenCalledTimes(2)
    onSession(() => undefined)
  })

  it('sends a call again as it was, but for the token of the new session', async () => {
    setCsrfToken('old')
    let answers = 0
    const calls = serve({
      'POST /api/v1/jobs/7/trigger': () => (answers++ === 0 ? json({ code: 'unauthenticated', detail: '' }, 401) : json({ executionIds: ['e'] })),
    })
    let back: (again: boolean) => void = () => undefined
    onSession((refused) => (refused ? new Promise((go) => (back = go)) : undefined))
    const header = { 'Idempotency-Key': 'k', 'If-Match': '"3"' }
    const sent = data(client.POST('/api/v1/jobs/{id}/trigger', { params: { path: { id: '7' }, header }, body: { params: { day: 'x' } } }))
    await vi.waitFor(() => expect(calls).toHaveLength(1))
    setCsrfToken('new')
    back(true)
    expect(await sent).toEqual({ executionIds: ['e'] })
    const told = (call: Request | undefined) => ['Idempotency-Key', 'If-Match', 'X-CSRF-Token'].map((name) => call?.headers.get(name))
    expect(calls.map(told)).toEqual([['k', '"3"', 'old'], ['k', '"3"', 'new']])
    expect(await calls[1]?.json()).toEqual({ params: { day: 'x' } })
    onSession(() => undefined)
    setCsrfToken('')
  })

  it('lets who waits give up', async () => {
    serve({ 'GET /api/v1/nodes': () => json({ code: 'unauthenticated', detail: '' }, 401) })
    onSession((refused) => (refused ? new Promise(() => undefined) : undefined))
    const gone = new AbortController()
    const read = data(client.GET('/api/v1/nodes', { signal: gone.signal }))
    setTimeout(() => gone.abort(), 10)
    await expect(read).rejects.toMatchObject({ name: 'AbortError' })
    onSession(() => undefined)
  })

  it('sends the token against forgery with changes alone', async () => {
    setCsrfToken('secret')
    const calls = serve({
      'GET /api/v1/nodes': () => json({ items: [] }), 'POST /api/v1/nodes/{id}/drain': () => json({}),
      'POST /api/v1/nodes/a%2Fb/drain': () => json({}),
    })
    await list()
    await data(client.POST('/api/v1/nodes/{id}/drain', { params: { path: { id: 'a/b' } } }))
    expect(calls.map((c) => c.headers.get('X-CSRF-Token'))).toEqual([null, 'secret'])
    setCsrfToken('')
  })

  it('hands the tag of what it read over, and makes keys', async () => {
    serve({ 'GET /api/v1/nodes': () => new Response('{"items":[]}', { headers: { ETag: '"3"', 'Content-Type': 'application/json' } }) })
    expect(await tagged(client.GET('/api/v1/nodes'))).toEqual({ body: { items: [] }, etag: '"3"' })
    expect(onceKey()).toMatch(/^[0-9a-f]{32}$/)
    expect(onceKey()).not.toBe(onceKey())
  })

  it('notices a clock that differs by much', async () => {
    const at = (ms: number) => serve({
      'GET /api/v1/nodes': () => new Response('{}', { headers: { Date: new Date(Date.now() + ms).toUTCString() } }),
    })
    at(3_000)
    await list()
    expect(clockOffset.value).toBe(0)
    at(3_600_000)
    await list()
    expect(clockOffset.value).toBeGreaterThan(3_590_000)
    at(0)
    await list()
  })
})
