import type { components } from './schema'

/** One wrong field, as the server names it: a path into the body or the query. */
export type FieldProblem = components['schemas']['FieldError']

/** Codes that this side makes, where no answer of the server came. */
const OFFLINE = 'offline'
const TOO_SLOW = 'too_slow'

/** Problem is every failure of a call: the server's own words where it answered. */
export class Problem extends Error {
  override readonly name = 'Problem'

  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly fields: readonly FieldProblem[] = [],
    readonly requestId = '',
    /** Seconds to wait, where the server says so; else 0. */
    readonly retryAfter = 0,
  ) {
    super(detail)
  }

  /** Nothing answered: the server or the way to it is away. */
  get offline(): boolean {
    return this.code === OFFLINE
  }

  /** Whether the same call may work soon. */
  get passing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500
  }
}

/** Makes the problem of an answer. */
export async function problemOf(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => undefined)
  const wait = Number(response.headers.get('Retry-After') ?? 0) || 0
  if (typeof body === 'object' && body !== null && 'code' in body) {
    const p = body as Partial<components['schemas']['Problem']>
    return new Problem(response.status, p.code ?? '', p.detail ?? '', p.errors ?? [], p.requestId ?? '', wait)
  }
  return new Problem(response.status, 'http', response.statusText, [], response.headers.get('X-Request-Id') ?? '', wait)
}

/** Makes the problem of a call that was not answered. Calls that were given up stay what they are. */
export function problemOfFailure(failure: unknown): unknown {
  if (failure instanceof Problem) return failure
  if (failure instanceof DOMException && failure.name === 'TimeoutError') return new Problem(0, TOO_SLOW, '')
  if (failure instanceof TypeError) return new Problem(0, OFFLINE, '')
  return failure
}

/** Makes a problem of whatever was thrown, for those who show it. */
export function asProblem(failure: unknown): Problem {
  if (failure instanceof Problem) return failure
  return new Problem(-1, 'console', failure instanceof Error ? failure.message : String(failure))
}
