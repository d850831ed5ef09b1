import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Request {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** A service on loopback that jobs and alerts call. It keeps what it was sent, and answers as a test says. */
export class Receiver {
  readonly requests: Request[] = []
  private readonly answers = new Map<string, { status: number; body: string }>()

  private constructor(private readonly server: Server) {}

  static async start(port = 0): Promise<Receiver> {
    const server = createServer()
    const receiver = new Receiver(server)
    server.on('request', (request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const path = request.url ?? '/'
        const { method = '', headers } = request
        receiver.requests.push({ method, path, headers, body: Buffer.concat(parts).toString() })
        const { status, body } = receiver.answers.get(path.split('?')[0] ?? '') ?? { status: 200, body: 'ok' }
        response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(body)
      })
    })
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  /** The answer of a path from now on. */
  answer(path: string, status: number, body: string): void {
    this.answers.set(path, { status, body })
  }

  to(path: string): Request[] {
    return this.requests.filter((r) => r.path.split('?')[0] === path)
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }
}
