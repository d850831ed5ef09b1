// The one place that calls the server. queries.ts of a feature is the only other file
// that imports it (ESLint holds it).
import createClient, { type Middleware } from 'openapi-fetch'
import { Answers } from './answers'
import { answered, unanswered } from './connection'
import type { paths } from './schema'
import { Problem, problemOf, problemOfFailure } from './problem'

/** The longest wait for an answer; imports and exports of whole sets say their own signal. */
const LONGEST_MS = 55_000

let csrfToken = ''
const answers = new Answers()
let ended: () => void = () => undefined

/** Sets the token that changing calls carry. */
export function setCsrfToken(token: string): void {
  if (token !== csrfToken) answers.clear()
  csrfToken = token
}

/** Sets who is told that the session is over. */
export function onSessionEnd(listener: () => void): void {
  ended = listener
}

const reading = new Set(['GET', 'HEAD'])

/** Whether a call counts on the session: one that signs in, or has a token of its own, says nothing about it. */
function bySession(request: Request): boolean {
  return !request.headers.has('Authorization') && !new URL(request.url).pathname.endsWith('/auth/login')
}

const house: Middleware = {
  onRequest({ request }) {
    if (!reading.has(request.method) && csrfToken !== '') request.headers.set('X-CSRF-Token', csrfToken)
    return request
  },
  async onResponse({ request, response }) {
    answered(response)
    if (response.ok || response.status === 304) return undefined
    const problem = await problemOf(response)
    if (problem.status === 401 && bySession(request)) ended()
    throw problem
  },
  onError({ error }) {
    const problem = problemOfFailure(error)
    if (problem instanceof Problem) unanswered()
    return problem instanceof Error ? problem : undefined
  },
}

async function send(request: Request): Promise<Response> {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(LONGEST_MS)])
  const call = new Request(request, { signal, credentials: 'same-origin' })
  return answers.send(call, (r, cache) => fetch(new Request(r, { cache })))
}

/**
 * The typed client: `await data(client.GET('/api/v1/nodes', { signal }))`. A call that
 * fails throws a Problem.
 */
export const client = createClient<paths>({ baseUrl: location.origin, fetch: send })
client.use(house)

interface Answer<T> {
  data?: T
  response: Response
}

/** The body of an answer; undefined for 204. */
export async function data<T>(call: Promise<Answer<T>>): Promise<T> {
  return (await call).data as T
}

/** The body with its ETag, for an edit that must find what was shown: send it as If-Match. */
export async function tagged<T>(call: Promise<Answer<T>>): Promise<{ body: T; etag: string }> {
  const answer = await call
  return { body: answer.data as T, etag: answer.response.headers.get('ETag') ?? '' }
}

/** A fresh Idempotency-Key: one per click, kept over its repetitions. */
export function onceKey(): string {
  // randomUUID is for secure contexts alone, and a console may be served without TLS.
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('')
}
