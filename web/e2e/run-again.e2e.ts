import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { findings } from './axe'
import { Console, Server, shot, waitFor } from './harness'
import { Receiver } from './receiver'
import { words } from './words'

const FIRES = 6

let server: Server
let browser: Console
let receiver: Receiver
const ids: Record<string, string> = {}

interface Run { id: string; status: string; retryOf: string | null }

const runs = async (name: string, query = '') =>
  (await server.api<{ items: Run[] }>('GET', `/api/v1/executions?jobId=${ids[name]}&limit=200${query}`)).items
const again = async (name: string) => (await runs(name, '&trigger=RETRY')).map((run) => run.retryOf)

/** A job whose fires failed, and which is paused since. */
async function failed(name: string): Promise<void> {
  const made = await server.api<{ id: string }>('POST', '/api/v1/jobs', {
    name, jobType: 'HTTP', jobData: { url: `${receiver.url}/books` }, schedule: { kind: 'FIXED_RATE', intervalMs: 1_000, timeZone: 'Asia/Shanghai' },
  })
  ids[name] = made.id
  await waitFor(async () => (await runs(name, '&status=FAILED')).length >= FIRES, 40_000)
  await server.api('POST', `/api/v1/jobs/${made.id}/pause`, {})
  await waitFor(async () => (await runs(name)).every((run) => !['WAITING', 'RUNNING'].includes(run.status)), 20_000)
}

beforeAll(async () => {
  server = await Server.start()
  receiver = await Receiver.start()
  receiver.answer('/books', 503, 'the ledger is locked')
  for (const language of ['en', 'zh-CN']) for (const tab of ['ledger', 'runs', 'backfill', 'list']) await failed(`${tab} ${language}`)
  receiver.answer('/books', 404, 'this page is gone')
  for (const language of ['en', 'zh-CN']) { // a second cause
    const name = `list ${language}`
    const before = (await runs(name, '&status=FAILED')).length
    await server.api('POST', `/api/v1/jobs/${ids[name]}/trigger`, {})
    await waitFor(async () => (await runs(name, '&status=FAILED')).length > before, 20_000)
  }
  receiver.answer('/books', 200, 'done')
  browser = await Console.start(server)
}, 240_000)
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
  await receiver?.stop()
})

describe.each([['en', 'light'], ['zh-CN', 'dark']] as const)('fires that failed: %s, %s', (language, theme) => {
  const w = words(language)
  const open = (name: string, query: string) => browser.signedIn(`/jobs/${ids[name]}?${query}`, { language, theme })
  const button = (page: Page, key: string) => page.getByRole('button', { name: w(key), exact: true })

  /** Chooses three rows with Shift, and runs them again. */
  async function three(page: Page, name: string): Promise<void> {
    const boxes = page.locator('main tbody input[type=checkbox]')
    await boxes.nth(FIRES - 1).waitFor()
    await boxes.nth(2).click()
    await boxes.nth(4).click({ modifiers: ['Shift'] })
    expect(await findings(page)).toEqual([])
    await button(page, 'jobs.again.do').click()
    const question = page.getByRole('dialog')
    await question.getByText(w('jobs.again.text')).waitFor()
    await question.getByRole('button', { name: w('jobs.again.do'), exact: true }).click()
    await page.getByText(w('shared.bulk.sum', { done: 3, failed: 0 })).waitFor()
    await page.getByRole('dialog').getByRole('link', { name: w('jobs.again.new') }).nth(2).waitFor()
    expect(new Set(await again(name)).size).toBe(3)
    await waitFor(async () => (await runs(name, '&status=SUCCESS')).length === 3, 20_000)
  }

  it('are chosen in the ledger and run again', async () => {
    const name = `ledger ${language}`
    const page = await open(name, 'hours=6')
    await three(page, name)
    await shot(page, `again-ledger-${language}-${theme}`)
    await page.context().close()
  })

  it('are chosen among the executions of the job and run again', async () => {
    const name = `runs ${language}`
    const page = await open(name, 'tab=runs')
    await three(page, name)
    await page.context().close()
  })

  it('are counted by cause beside the list of executions, and all run again', async () => {
    const name = `list ${language}`
    const all = (await runs(name)).length
    const page = await browser.signedIn(`/executions?jobId=${ids[name]}`, { language, theme })
    await button(page, 'executions.failed.open').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/503/).waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `again-list-${language}-${theme}`)
    const start = dialog.locator('footer button').last()
    const rows = dialog.locator('tbody tr')
    const causes = await rows.count()
    expect(causes).toBe(2)
    const ofFirst = Number(await rows.first().locator('td').first().textContent())
    await rows.first().getByRole('button', { name: w('executions.failed.only') }).click()
    await waitFor(async () => (await rows.count()) === 1, 5_000)
    expect(ofFirst).toBe(all - 1)
    await start.getByText(String(ofFirst)).waitFor()
    await rows.first().getByRole('button', { name: w('executions.failed.all') }).click()
    await waitFor(async () => (await rows.count()) === causes, 5_000)
    await start.getByText(String(all)).waitFor()
    await start.click()
    await page.getByText(w('shared.bulk.sum', { done: all, failed: 0 })).waitFor()
    expect(new Set(await again(name)).size).toBe(all)
    await waitFor(async () => (await runs(name, '&status=SUCCESS')).length === all, 20_000)
    await page.keyboard.press('Escape')
    await button(page, 'executions.failed.open').click()
    // A run that was run again is not run a second time.
    await dialog.getByText(w('executions.failed.left', { again: all, succeeded: 0, deleted: 0 })).waitFor()
    expect(await start.isDisabled()).toBe(true)
    await page.context().close()
  })

  it('are run again with the times of a backfill, where somebody asks for it', async () => {
    const name = `backfill ${language}`
    const old = await runs(name)
    const wall = (ms: number) => new Date(ms + 8 * 3_600_000).toISOString().slice(0, 19)
    const { items } = await server.api<{ items: { scheduledTime: string }[] }>('GET', `/api/v1/jobs/${ids[name]}/fires?limit=200`)
    const times = items.map((fire) => Date.parse(fire.scheduledTime)).sort((a, b) => a - b)
    const [from, to] = [times[0] ?? 0, times.at(FIRES - 1) ?? 0]
    const page = await open(name, `tab=backfill&from=${wall(from)}&to=${wall(to + 1_000)}`)
    await button(page, 'jobs.backfill.plan').click()
    await page.locator('.plan.stack').waitFor()
    expect(await page.getByRole('button', { name: /^(Start th|开始补跑)/ }).count()).toBe(0)
    await page.getByText(w('jobs.backfill.alsoFailed')).click()
    await button(page, 'jobs.backfill.plan').click()
    await page.getByText(w('jobs.backfill.failed', { n: FIRES })).waitFor()
    expect(await page.locator('.plan li', { hasText: w('jobs.backfill.hasFailed') }).count()).toBe(FIRES)
    expect(await findings(page)).toEqual([])
    await shot(page, `again-backfill-${language}-${theme}`)
    await page.getByRole('button', { name: /^(Start th|开始补跑)/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: w('jobs.backfill.start'), exact: true }).click()
    await page.getByText(w('jobs.backfill.started')).waitFor()
    const filled = page.getByRole('row').filter({ hasText: w('jobs.backfill.withFailed') })
    await filled.filter({ hasText: w('jobs.backfill.counts', { started: FIRES, already: 0, total: FIRES }) }).waitFor()
    const repeated = await again(name)
    expect(repeated).toHaveLength(FIRES)
    expect(old.map((run) => run.id)).toEqual(expect.arrayContaining(repeated))
    await waitFor(async () => (await runs(name, '&status=SUCCESS')).length === FIRES, 20_000)
    // A run that was made good is not run a second time.
    await button(page, 'jobs.backfill.plan').click()
    await page.getByText(w('jobs.backfill.failed', { n: 0 })).waitFor()
    expect(await page.getByRole('button', { name: /^(Start th|开始补跑)/ }).count()).toBe(0)
    await page.context().close()
  })
})

it('makes nobody complain', () => expect(browser.complaints).toEqual([]))
