import { expect, it, vi } from 'vitest'
import { Answers } from './answers'

const json = (body: string, etag: string) => new Response(body, { headers: { 'Content-Type': 'application/json', 'ETag': etag } })
const get = (path: string, headers: Record<string, string> = {}) => new Request(`http://node${path}`, { headers })

it('shows what was said last where the server has nothing new', async () => {
  const answers = new Answers()
  const server = vi.fn<(request: Request, cache: string) => Promise<Response>>()
  server.mockResolvedValueOnce(json('{"n":1}', '"a"'))
  await answers.send(get('/x'), server)
  server.mockResolvedValueOnce(new Response(null, { status: 304, headers: { ETag: '"a"' } }))
  const again = await answers.send(get('/x'), server)
  expect(server.mock.lastCall?.[0].headers.get('If-None-Match')).toBe('"a"')
  expect([again.status, await again.json()]).toEqual([200, { n: 1 }])

  server.mockResolvedValueOnce(json('{"n":2}', '"b"'))
  expect(await (await answers.send(get('/x'), server)).json()).toEqual({ n: 2 })
  server.mockResolvedValueOnce(json('{}', '"c"'))
  await answers.send(get('/x?page=2'), server)
  expect(server.mock.lastCall?.[0].headers.has('If-None-Match')).toBe(false)
})

it('forgets all of it with the session, and keeps nothing of a call with a token of its own', async () => {
  const answers = new Answers()
  const server = vi.fn<(request: Request, cache: string) => Promise<Response>>(() => Promise.resolve(json('{}', '"a"')))
  await answers.send(get('/x'), server)
  await answers.send(get('/x', { Authorization: 'Bearer one' }), server)
  expect(server.mock.lastCall?.[0].headers.has('If-None-Match')).toBe(false)
  answers.clear()
  await answers.send(get('/x'), server)
  expect(server.mock.lastCall?.[0].headers.has('If-None-Match')).toBe(false)
})

it('asks for what is true now while and after it changes something', async () => {
  let now = 0
  const answers = new Answers(() => now)
  const server = vi.fn<(request: Request, cache: string) => Promise<Response>>(() => Promise.resolve(json('{}', '"a"')))
  const asksAnew = async () => {
    await answers.send(get('/x'), server)
    return server.mock.lastCall?.[1] === 'reload'
  }
  expect(await asksAnew()).toBe(false)
  let done: (response: Response) => void = () => undefined
  const change = answers.send(new Request('http://node/x', { method: 'POST' }), () => new Promise((resolve) => (done = resolve)))
  expect(await asksAnew()).toBe(true)
  done(new Response(null, { status: 204 }))
  await change
  now = 1_999
  expect(await asksAnew()).toBe(true)
  now = 2_001
  expect(await asksAnew()).toBe(false)
})

it('keeps no more than so many answers', async () => {
  const answers = new Answers()
  const server = vi.fn<(request: Request, cache: string) => Promise<Response>>(() => Promise.resolve(json('{}', '"a"')))
  for (let n = 0; n <= 60; n++) await answers.send(get(`/${n}`), server)
  await answers.send(get('/60'), server)
  expect(server.mock.lastCall?.[0].headers.has('If-None-Match')).toBe(true)
  await answers.send(get('/0'), server)
  expect(server.mock.lastCall?.[0].headers.has('If-None-Match')).toBe(false)
})
