// The latest answers of the server, by address, as it gave them: asked again, it need not send the
// same once more. It is kept in memory alone, so that nothing of it outlives the tab.

const MOST = 60
const MOST_LETTERS = 4_000_000
/** How long after a change a node that was not asked to make it may tell of before. */
const AFTER_CHANGE_MS = 2_000

interface Kept {
  etag: string
  text: string
}

/** How the server is called. */
type Fetch = (request: Request, cache: 'no-cache' | 'reload') => Promise<Response>

/** Answers keeps what the server said to reads. */
export class Answers {
  private readonly kept = new Map<string, Kept>()
  private letters = 0
  private changing = 0
  private changedAt = -Infinity

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Sends a call, and says whether the server may answer with what it knows of a moment ago. */
  async send(request: Request, fetch: Fetch): Promise<Response> {
    if (request.method !== 'GET') return this.change(() => fetch(request, 'no-cache'))
    const before = request.headers.has('Authorization') ? undefined : this.kept.get(request.url)
    if (before) request.headers.set('If-None-Match', before.etag)
    // The browser says no-cache by reload, and max-age=0 else.
    const anew = this.changing > 0 || this.now() - this.changedAt < AFTER_CHANGE_MS
    const response = await fetch(request, anew ? 'reload' : 'no-cache')
    if (response.status === 304 && before) return this.again(response, before)
    await this.keep(request.url, response)
    return response
  }

  /** Forgets everything, as another person may sign in. */
  clear(): void {
    this.kept.clear()
    this.letters = 0
  }

  private async change(call: () => Promise<Response>): Promise<Response> {
    this.changing++
    try {
      return await call()
    } finally {
      this.changing--
      this.changedAt = this.now()
    }
  }

  private again(response: Response, { text }: Kept): Response {
    const headers = new Headers(response.headers)
    headers.set('Content-Type', 'application/json')
    return new Response(text, { status: 200, headers })
  }

  private async keep(address: string, response: Response): Promise<void> {
    this.drop(address)
    const etag = response.headers.get('ETag')
    const type = response.headers.get('Content-Type') ?? ''
    if (response.status !== 200 || !etag || !type.startsWith('application/json')) return
    const text = await response.clone().text()
    this.kept.set(address, { etag, text })
    this.letters += text.length
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= MOST && this.letters <= MOST_LETTERS) break
      this.drop(oldest)
    }
  }

  private drop(address: string): void {
    this.letters -= this.kept.get(address)?.text.length ?? 0
    this.kept.delete(address)
  }
}
