// Starts the built binary on SQLite in a scratch folder, opens Chromium, and signs in.
// `make build` first; PS_BINARY names another binary, PS_CHROMIUM another browser.
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach } from 'vitest'
import { chromium, type Browser, type BrowserContext, type Page, type Route } from 'playwright-core'

const root = path.resolve(import.meta.dirname, '../..')
const binary = process.env['PS_BINARY'] ?? path.join(root, 'bin/platform-scheduler')
const browsers = [process.env['PS_CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Where failures leave pictures, and `shots` its own. */
export const pictures = process.env['PS_PICTURES'] ?? path.join(root, 'web/e2e/.scratch')

/** How many times slower than it could be the browser is: PS_BROWSER_SLOWER=6 finds tests that hold on a quick machine alone. */
const slowness = Number(process.env['PS_BROWSER_SLOWER'] ?? '1')

/** The pages of this file that are open: a test that fails says what they showed. */
const open = new Set<Page>()

afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return
  for (const page of open) {
    const shown = await page.locator('body').innerText({ timeout: 2_000 }).catch(String)
    console.error(`${page.url()} showed:\n${shown.slice(-SHOWN)}`)
  }
})

/** Dialogs come last in a page. */
const SHOWN = 3_000

const START_MS = 40_000

/** A server of one test file. */
export class Server {
  private child: ChildProcess | undefined
  private output = ''

  private constructor(private readonly folder: string, private readonly port: number) {}

  /** Without a port it takes a free one. The first user has chosen a password, unless `fresh`. */
  static async start(environment: Record<string, string> = {}, port?: number, fresh = false): Promise<Server> {
    if (!existsSync(binary)) throw new Error(`${binary} does not exist: make build`)
    const server = new Server(await mkdtemp(path.join(tmpdir(), 'ps-console-')), port ?? (await freePort()))
    await server.run(environment)
    if (!fresh) await server.chooseFirstPassword()
    return server
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** The file of its store. */
  get store(): string {
    return path.join(this.folder, 'data/platform-scheduler.db')
  }

  /** Starts the process, also anew after stop. */
  async run(environment: Record<string, string> = {}): Promise<void> {
    const child = spawn(binary, ['server'], {
      cwd: this.folder,
      env: {
        PATH: process.env['PATH'], HOME: this.folder, PS_DATA_DIR: path.join(this.folder, 'data'),
        PS_SERVER_ADDR: `127.0.0.1:${this.port}`, ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.child = child
    for (const pipe of [child.stdout, child.stderr]) pipe?.on('data', (part: Buffer) => (this.output += part.toString()))
    await waitFor(async () => {
      if (child.exitCode !== null) throw new Error(`the server ended:\n${this.output}`)
      return (await fetch(`${this.url}/readyz`).catch(() => undefined))?.ok === true
    }, START_MS, () => `the server is not ready:\n${this.output}`)
  }

  private chosen: string | undefined

  /** The first password, as the server wrote it. A user who signs in with it is asked for another one. */
  async firstPassword(): Promise<string> {
    return (await readFile(path.join(this.folder, 'data/initial-admin-password'), 'utf8')).trim()
  }

  /** The password that the first user chose. */
  async password(): Promise<string> {
    return this.chosen ?? this.firstPassword()
  }

  private async chooseFirstPassword(): Promise<void> {
    const [oldPassword, newPassword] = [await this.firstPassword(), 'chosen-Words-6613']
    await this.api('POST', '/api/v1/auth/password', { oldPassword, newPassword })
    this.tokens.clear()
    this.chosen = newPassword
  }

  /** Ends the process and waits for its end; its data stay. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    const late = setTimeout(() => child.kill('SIGKILL'), 15_000)
    await ended
    clearTimeout(late)
  }

  async remove(): Promise<void> {
    await this.stop()
    await rm(this.folder, { recursive: true, force: true })
  }

  /** Calls the API as a user, to prepare what a test looks at. A refusal is an error. */
  async api<T = unknown>(method: string, address: string, body?: unknown, token?: string): Promise<T> {
    const bearer = token ?? (await this.token('admin', await this.password()))
    const answer = await fetch(this.url + address, {
      method,
      headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${address}: ${answer.status} ${await answer.text()}`)
    return (answer.status === 204 ? undefined : await answer.json()) as T
  }

  private readonly tokens = new Map<string, string>()

  /** A session's token, one for each user. */
  async token(username: string, password: string): Promise<string> {
    const known = this.tokens.get(username)
    if (known) return known
    const answer = await fetch(`${this.url}/api/v1/auth/login`, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ username, password }),
    })
    if (!answer.ok) throw new Error(`sign in as ${username}: ${answer.status} ${await answer.text()}`)
    const { token } = (await answer.json()) as { token: string }
    this.tokens.set(username, token)
    return token
  }

  /** Makes a user and returns the password. */
  async user(username: string, role: 'operator' | 'viewer', more: Record<string, unknown> = {}): Promise<string> {
    const password = `quite-Long-8731-${role}`
    await this.api('POST', '/api/v1/users', { username, password, role, mustChangePassword: false, ...more })
    return password
  }
}

export interface View {
  language?: 'en' | 'zh-CN'
  theme?: 'light' | 'dark'
  width?: number
  height?: number
  zone?: string
}

/** A browser of one test file. Pages note what the policy refuses and what fails in scripts. */
export class Console {
  readonly complaints: string[] = []

  private constructor(private readonly browser: Browser, readonly server: Server) {}

  static async start(server: Server): Promise<Console> {
    const executablePath = browsers.find((name) => name !== undefined && existsSync(name))
    if (!executablePath) throw new Error('there is no Chromium: test/services/install browser')
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
    return new Console(browser, server)
  }

  /** A window that knows nobody. */
  async window(view: View = {}): Promise<BrowserContext> {
    const { language = 'en', theme = 'light', width = 1280, height = 800, zone = 'Europe/Berlin' } = view
    const context = await this.browser.newContext({
      baseURL: this.server.url, locale: language, colorScheme: theme, viewport: { width, height },
      timezoneId: zone, reducedMotion: 'reduce',
    })
    context.setDefaultTimeout(30_000) // machines differ by a factor of three
    context.on('page', (page) => {
      open.add(page)
      page.once('close', () => open.delete(page))
      if (slowness > 1) {
        void context.newCDPSession(page).then((session) => session.send('Emulation.setCPUThrottlingRate', { rate: slowness })).catch(() => undefined)
      }
      page.on('console', (line) => {
        // The browser itself logs each refused call; pages show those.
        if (line.type() === 'error' && !line.text().startsWith('Failed to load resource')) this.complaints.push(line.text())
      })
      page.on('pageerror', (failure) => this.complaints.push(String(failure)))
    })
    return context
  }

  /** A page of somebody who is signed in; without a password, of the first user. */
  async signedIn(address = '/', view: View = {}, who: { username: string; password: string } | undefined = undefined): Promise<Page> {
    const context = await this.window(view)
    const { username, password } = who ?? { username: 'admin', password: await this.server.password() }
    const answer = await context.request.post('/api/v1/auth/login', { data: { username, password, cookie: true } })
    if (!answer.ok()) throw new Error(`sign in as ${username}: ${answer.status()} ${await answer.text()}`)
    const page = await context.newPage()
    await page.goto(address)
    await page.locator('main h1').waitFor({ state: 'attached' })
    return page
  }

  async stop(): Promise<void> {
    await this.browser.close()
  }
}

/** Waits until something holds; asks anew every 50 ms. */
export async function waitFor(holds: () => Promise<boolean> | boolean, within = 15_000, why: () => string = () => 'it never came true'): Promise<void> {
  const until = Date.now() + within
  while (!(await holds())) {
    if (Date.now() > until) throw new Error(why())
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Does something while the page reads nothing by itself: else it may find out first that its session is over, and its dialog takes the click. */
export async function beforeItReads(page: Page, act: () => Promise<unknown>): Promise<void> {
  let over = () => {}
  const done = new Promise<void>((resolve) => { over = resolve })
  const hold = async (route: Route) => {
    if (route.request().method() === 'GET') await done
    await route.fallback().catch(() => undefined)
  }
  await page.route('**/api/v1/**', hold)
  try {
    await act()
  } finally {
    over()
    await page.unroute('**/api/v1/**', hold)
  }
}

/** Saves a picture of the whole page. */
export async function shot(page: Page, name: string): Promise<void> {
  await mkdir(pictures, { recursive: true })
  await page.screenshot({ path: path.join(pictures, `${name}.png`), fullPage: true })
}

/** Below the ports that the system gives to calls. Another file that starts a server at the same time draws another one. */
async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer()
      probe.once('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (free) return port
  }
  throw new Error('there is no free port from 20000 to 32000')
}
