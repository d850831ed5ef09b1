// `make guide` writes the pictures that the documents show, in both languages, light and dark.
// The server tells a fixed time (PS_FAILPOINT_CLOCK), so that pictures of unchanged pages stay alike; a picture
// that hardly differs from the one that is there is not written.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LanguageCode } from '@/shared/text'
import { Console, pictures as scratch, Server, shot, waitFor } from '../harness'
import { Receiver } from '../receiver'
import { words } from '../words'
import { define, employ, live, remember, type Shown, type ShownWorker } from './data'
import { Images } from './images'
import { pictures } from './pages'
import { fileOf, folder, shownPictures } from './shown'

// It must lie ahead: deadlines of sockets go by the machine's clock, and streams would end at once.
const NOW = Date.parse('2027-06-16T08:03:50Z')
const SETTING_UP_MS = 120_000
const NODE = 'node-1'
const only = process.env['GUIDE_ONLY']?.split(',')
const zones: Record<LanguageCode, string> = { en: 'Europe/Berlin', 'zh-CN': 'Asia/Shanghai' }
const views = (['en', 'zh-CN'] as const).flatMap((language) => (['light', 'dark'] as const).map((theme) => ({ language, theme })))

const wanted = shownPictures()

let own: string
let server: Server
let far: Receiver
let browser: Console
let images: Images
let shown: Shown
let workers: ShownWorker[] = []
let offset = 0

/** Lets the server tell that moment, from now on. */
async function setClock(moment: number): Promise<void> {
  offset = moment - Date.now()
  await writeFile(path.join(own, 'clock'), String(offset))
}

/** Lets a page tell the time of the server. */
function tellTime(by: number): void {
  const Machine = Date
  window.Date = new Proxy(Machine, {
    construct: (_, args: [number?]) => (args.length === 0 ? new Machine(Machine.now() + by) : Reflect.construct(Machine, args)),
    get: (target, name) => (name === 'now' ? () => Machine.now() + by : (Reflect.get(target, name) as unknown)),
  })
  // The header of answers is written by the machine's clock.
  const get = Headers.prototype.get
  Headers.prototype.get = function (name) {
    return name.toLowerCase() === 'date' ? new Date().toUTCString() : get.call(this, name)
  }
}

it('tells a moment ahead', () => expect(NOW, 'choose a later moment').toBeGreaterThan(Date.now()))

describe('the pictures', () => {
  beforeAll(async () => {
    own = await mkdtemp(path.join(tmpdir(), 'ps-guide-'))
    const environment = {
      PS_FAILPOINT_CLOCK: path.join(own, 'clock'), PS_NODE_ID: NODE,
      ...(process.getuid?.() === 0 ? { PS_EXECUTOR_COMMAND_USER: 'nobody' } : {}),
    }
    await setClock(NOW - SETTING_UP_MS)
    far = await Receiver.start(18_081)
    server = await Server.start(environment, 18_080)
    const jobs = await define(server, far, new Date(NOW + 4 * 3_600_000).toISOString())
    await server.stop()
    await remember(server.store, NODE, new Date(NOW - SETTING_UP_MS).toISOString())
    await setClock(NOW - SETTING_UP_MS + 5_000)
    await server.run(environment)
    shown = await live(server, far, jobs)
    browser = await Console.start(server)
    images = await Images.start(browser)
    await setClock(NOW)
    workers = await employ(server)
    shown.worker = workers[0]?.id ?? ''
  }, 300_000)
  afterAll(async () => {
    await browser?.stop()
    for (const worker of workers) await worker.stop()
    await server?.remove()
    await far?.stop()
    if (own) await rm(own, { recursive: true, force: true })
  })

  it.each(views)('show what the documents show: $language, $theme', async (view) => {
    const { language, theme } = view
    const w = words(language)
    const contexts: BrowserContext[] = []
    const open = async (phone: boolean, signedOut: boolean): Promise<Page> => {
      const size = phone ? { width: 390, height: 780 } : { width: 1280, height: 800 }
      const options = { ...view, ...size, zone: zones[language] }
      const page = signedOut ? await (await browser.window(options)).newPage() : await browser.signedIn('/password', options)
      contexts.push(page.context())
      await page.context().addInitScript(tellTime, offset)
      return page
    }
    const wrong: string[] = []
    const kinds = new Map<string, Page>()
    for (const { name, address, until, before, signedOut = false, phone = false } of pictures) {
      const file = fileOf(language, name, theme)
      if (!wanted.includes(file) || (only && !only.includes(name))) continue
      const kind = `${signedOut}${phone}`
      const page = kinds.get(kind) ?? (await open(phone, signedOut))
      kinds.set(kind, page)
      await page.goto(address(shown))
      try {
        await show(page, until, () => before?.(page, w))
      } catch (e) {
        await shot(page, `guide-${name}`)
        wrong.push(`${name}: ${String(e)}`)
        continue
      }
      const png = await page.screenshot({ animations: 'disabled', caret: 'hide' })
      await mkdir(path.join(scratch, 'guide'), { recursive: true })
      await writeFile(path.join(scratch, 'guide', `${name}-${language}-${theme}.png`), png)
      await images.keep(path.join(folder, file), png)
    }
    for (const context of contexts) await context.close()
    expect(wrong).toEqual([])
  }, 300_000)

  afterAll(() => console.log(images?.said()))

  it('make nobody complain', () => expect(browser.complaints).toEqual([]))
})

async function show(page: Page, until: string | undefined, before: () => Promise<unknown> | undefined): Promise<void> {
  await page.locator('h1').first().waitFor()
  if (until) await page.locator(until).first().waitFor()
  await before()
  await quiet(page)
}

/** Waits until nothing loads and nothing moves. */
async function quiet(page: Page): Promise<void> {
  await waitFor(async () => (await page.locator('.el-skeleton, .el-loading-mask, .el-message').count()) === 0, 20_000, () => 'it goes on loading')
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
  let before = ''
  await waitFor(async () => {
    const now = (await page.screenshot({ animations: 'disabled', caret: 'hide' })).toString('base64')
    const same = now === before
    before = now
    return same
  }, 2_000).catch(() => undefined) // what counts seconds is never still
}
