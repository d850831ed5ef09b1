import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import { findings } from './axe'
import { Console, Server, waitFor } from './harness'

let server: Server
let browser: Console
const ids: Record<string, string> = {}

async function make(name: string, more: Record<string, unknown> = {}): Promise<void> {
  const job = await server.api<{ id: string }>('POST', '/api/v1/jobs', { name, jobType: 'CUSTOM', jobClass: 'noop', ...more })
  ids[name] = job.id
}

beforeAll(async () => {
  server = await Server.start()
  await make('books')
  await make('asks', { parameters: [{ name: 'town', type: 'STRING' }, { name: 'count', type: 'INTEGER', default: 3 }] })
  await make('ticks', { schedule: { kind: 'FIXED_RATE', intervalMs: 1_000, timeZone: 'Asia/Shanghai' } })
  await server.api('PUT', '/api/v1/worker-groups/shop', { jobGroups: ['default'] })
  const flow = await server.api<{ id: string }>('POST', '/api/v1/jobs', { name: 'flow', jobType: 'WORKFLOW', jobData: { steps: [{ name: 'ask', approval: {} }] } })
  const { executionIds } = await server.api<{ executionIds: string[] }>('POST', `/api/v1/jobs/${flow.id}/trigger`, {})
  ids['run of flow'] = executionIds[0] ?? ''
  await waitFor(async () => (await server.api<{ items: unknown[] }>('GET', '/api/v1/approvals?status=OPEN')).items.length > 0)
  browser = await Console.start(server)
})
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })

/** Opens a dialog by the keyboard alone. Its first element has the focus then, and not the box around it. */
async function opened(page: Page, opener: Locator, name: string | RegExp): Promise<Locator> {
  await opener.focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name })
  await dialog.waitFor()
  await focusInside(page)
  return dialog
}

const focusInside = (page: Page) =>
  page.waitForFunction(() => document.activeElement?.matches('.el-dialog :is(input, textarea, button, [data-first])') === true)

/** Tab goes around inside, both ways. */
async function keepsTab(page: Page): Promise<void> {
  for (const key of ['Tab', 'Shift+Tab']) {
    for (let n = 0; n < 14; n++) {
      await page.keyboard.press(key)
      expect(await page.evaluate(() => document.activeElement?.closest('.el-dialog') !== null)).toBe(true)
    }
  }
}

/** Escape closes the dialog, and its opener has the focus again. */
async function givesBack(page: Page, dialog: Locator, opener: Locator): Promise<void> {
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  await page.waitForFunction((e) => document.activeElement === e, await opener.elementHandle())
}

interface Case {
  at: () => string
  opener: string
  dialog: string | RegExp
  /** The field that takes what is typed, or the button that takes Enter. */
  field?: string
  takes?: string
}

const job = (name: string, tab = '') => () => `/jobs/${ids[name]}${tab}`
const cases: Record<string, Case> = {
  'a trigger with parameters': { at: job('asks'), opener: 'Trigger', dialog: 'Trigger asks?', field: 'town' },
  'a trigger without': { at: job('books'), opener: 'Trigger', dialog: 'Trigger books?', takes: 'Trigger' },
  'a pause': { at: job('books'), opener: 'Pause', dialog: 'Pause books?', field: 'Reason' },
  'a copy': { at: job('books'), opener: 'Copy', dialog: 'Copy books', field: 'Name of the copy' },
  'a deletion': { at: job('books'), opener: 'Delete', dialog: 'Delete books?', field: 'Type books to confirm' },
  'a silence': { at: job('books', '?tab=alerts'), opener: 'Silence this job', dialog: 'Silence books?', field: 'Until' },
  'the drain of a node': { at: () => '/nodes', opener: 'Drain', dialog: /^Drain/, takes: 'Drain' },
  'a secret': { at: () => '/secrets', opener: 'New secret', dialog: 'New secret', field: 'Name' },
  'a token': { at: () => '/tokens', opener: 'New token', dialog: 'New token', field: 'Name' },
  'a group': { at: () => '/groups', opener: 'New group', dialog: 'New group', field: 'Name' },
  'a worker group': { at: () => '/worker-groups', opener: 'New worker group', dialog: 'New worker group', field: 'Name' },
  'a token of workers': { at: () => '/worker-groups/shop', opener: 'New token', dialog: 'New token of shop', field: 'Name' },
  'a pause of a workflow run': { at: () => `/workflow-runs/${ids['run of flow']}`, opener: 'Pause', dialog: 'Pause this run of flow?', takes: 'Pause' },
  'a step that is skipped': { at: () => `/workflow-runs/${ids['run of flow']}?step=ask`, opener: 'Skip', dialog: 'Skip ask?', takes: 'Skip' },
  'a vote': { at: () => '/approvals', opener: 'Approve ask of flow', dialog: 'Approve ask of flow?', field: 'Comment, which all see' },
  'an import': { at: () => '/jobs', opener: 'Import', dialog: 'Import', field: 'File' },
}

describe('a dialog that the keyboard opens', () => {
  it.each(Object.keys(cases))('takes the keys, and gives them back: %s', async (name) => {
    const c = cases[name] as Case
    const page = await browser.signedIn(c.at())
    const opener = button(page, c.opener).first()
    const dialog = await opened(page, opener, c.dialog)
    if (c.takes) expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe(c.takes)
    if (c.field) {
      const field = dialog.locator(':focus')
      const before = await field.inputValue()
      if (name === 'an import') expect(await field.getAttribute('type')).toBe('file')
      else {
        await page.keyboard.type('0102')
        expect(await field.inputValue()).not.toBe(before)
        expect(await dialog.getByLabel(c.field).first().inputValue()).toBe(await field.inputValue())
      }
    }
    expect(await findings(page)).toEqual([])
    await keepsTab(page)
    await givesBack(page, dialog, opener)
    await page.context().close()
  })

  it('starts a backfill', async () => {
    const wall = (ms: number) => new Date(ms + 8 * 3_600_000).toISOString().slice(0, 19)
    const to = Date.now() - 60_000
    const page = await browser.signedIn(`/jobs/${ids['ticks']}?tab=backfill&from=${wall(to - 1_800_000)}&to=${wall(to)}`)
    await button(page, 'Dry run').focus()
    await page.keyboard.press('Enter')
    await opened(page, page.getByRole('button', { name: /^Start these/ }), /ticks/)
    expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe('Start')
    await page.keyboard.press('Enter')
    await page.getByRole('row').filter({ hasText: 'Active' }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.waitForFunction(() => document.activeElement !== document.body)
    await page.context().close()
  })

  it('keeps the keys where what it asked for is refused, and where its form gives way to an answer', async () => {
    const page = await browser.signedIn(`/jobs/${ids['books']}`)
    await page.route('**/trigger', (route) => route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"status":503,"code":"store_unavailable","detail":"later"}' }))
    const dialog = await opened(page, button(page, 'Trigger'), 'Trigger books?')
    await page.keyboard.press('Enter')
    await dialog.getByRole('alert').waitFor()
    await page.waitForFunction(() => document.activeElement?.textContent?.trim() === 'Trigger')
    await page.goto('/tokens')
    const token = await opened(page, button(page, 'New token'), 'New token')
    await page.keyboard.type('for the wall')
    await token.getByRole('checkbox').first().focus()
    await page.keyboard.press('Space')
    await button(page, 'Create').focus()
    await page.keyboard.press('Enter')
    await token.waitFor({ state: 'hidden' })
    await focusInside(page)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.context().close()
  })

  it('asks for the password over the page, and gives the page back', async () => {
    const password = await server.user('ann', 'operator')
    const { items } = await server.api<{ items: { id: string; username: string }[] }>('GET', '/api/v1/users')
    const page = await browser.signedIn(`/jobs/${ids['books']}`, {}, { username: 'ann', password })
    await opened(page, button(page, 'Pause'), 'Pause books?')
    await page.keyboard.type('moving')
    await server.api('DELETE', `/api/v1/users/${items.find((u) => u.username === 'ann')?.id}/sessions`)
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => document.activeElement?.getAttribute('type') === 'password')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await page.locator('h1').getByText('Paused').waitFor()
    await page.waitForFunction(() => document.activeElement !== document.body)
    await page.context().close()
  })
})

it('makes nobody complain', () => expect(browser.complaints).toEqual([]))
