// The one place that calls the server. queries.ts of a feature is the only other file
// that imports it (ESLint holds it).
import createClient, { type Middleware } from 'openapi-fetch'
import { Answers } from './answers'
import { answered, unanswered } from './connection'
import type { paths } from './schema'
import { Problem, problemOf, problemOfFailure } from './problem'

/** The longest wait for an answer; imports and exports of whole sets say their own signal. */
const LONGEST_MS = 55_000
const CSRF = 'X-CSRF-Token'

let csrfToken = ''
const answers = new Answers()
/** Holds a call back until somebody signed in again, and says whether to send it then; undefined lets it pass. */
type Gate = (refused: boolean) => Promise<boolean> | undefined
let gate: Gate = () => undefined

/** Sets the token that changing calls carry. */
export function setCsrfToken(token: string): void {
  if (token !== csrfToken) answers.clear()
  csrfToken = token
}

/** Sets who is asked before a call that counts on the session, and after one that was refused for want of it. */
export function onSession(ask: Gate): void {
  gate = ask
}

const reading = new Set(['GET', 'HEAD'])

/** Whether a call counts on the session: one that signs in or out, or has a token of its own, does not. */
function bySession(request: Request): boolean {
  return !request.headers.has('Authorization') && !/\/auth\/(login|logout|me)$/.test(new URL(request.url).pathname)
}

const house: Middleware = {
  onRequest({ request }) {
    if (!reading.has(request.method) && csrfToken !== '') request.headers.set(CSRF, csrfToken)
    return request
  },
  async onResponse({ response }) {
    answered(response)
    if (response.ok || response.status === 304) return undefined
    throw await problemOf(response)
  },
  onError({ error }) {
    const problem = problemOfFailure(error)
    if (problem instanceof Problem) unanswered()
    return problem instanceof Error ? problem : undefined
  },
}

/** Sends a call. While the session is over it waits, and it is sent again as it was where the same user is back. */
async function send(request: Request): Promise<Response> {
  if (!bySession(request)) return once(request)
  const before = gate(false)
  if (before && !(await unlessGivenUp(before, request.signal))) throw new Problem(401, 'session_over', '')
  let call = request
  for (;;) {
    const spare = call.clone()
    const token = csrfToken
    if (call.headers.has(CSRF)) call.headers.set(CSRF, token)
    const response = await once(call)
    if (response.status !== 401) return response
    // Another session may be there since the call was sent.
    const again = token === csrfToken ? gate(true) : Promise.resolve(csrfToken !== '')
    if (!again || !(await unlessGivenUp(again, request.signal))) return response
    call = spare
  }
}

function unlessGivenUp<T>(wait: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = () => reject(signal.reason)
    if (signal.aborted) give()
    signal.addEventListener('abort', give, { once: true })
    wait.then(resolve, reject)
  })
}

async function once(request: Request): Promise<Response> {
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
