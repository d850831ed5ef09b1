import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { findings } from './axe'
import { Console, Server } from './harness'
import { words } from './words'

let server: Server
let browser: Console
let job = ''

beforeAll(async () => {
  server = await Server.start()
  const made = await server.api<{ id: string }>('POST', '/api/v1/jobs', { name: 'nightly books', jobType: 'CUSTOM', jobClass: 'noop' })
  job = made.id
  browser = await Console.start(server)
})
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

describe.each([['en', 'light'], ['zh-CN', 'dark']] as const)('the palette: %s, %s', (language, theme) => {
  const w = words(language)
  const ways: Record<string, (page: Page) => Promise<void>> = {
    'its key': (page) => page.keyboard.press('/'),
    'Ctrl K': (page) => page.keyboard.press('Control+k'),
    'a click': (page) => page.getByRole('button', { name: w('app.search') }).click(),
  }

  it.each(Object.keys(ways))('takes what is typed, opened by %s', async (way) => {
    const page = await browser.signedIn('/nodes', { language, theme })
    await page.locator('h1').click()
    await ways[way]?.(page)
    const field = page.getByRole('combobox', { name: w('app.palette.placeholder') })
    await field.waitFor()
    await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'combobox')
    await page.keyboard.type('nightly')
    await page.getByRole('option', { name: 'nightly books' }).waitFor()
    expect(await field.inputValue()).toBe('nightly')
    expect(await findings(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'nightly books' }).waitFor()
    await page.context().close()
  })

  it('goes by the arrow keys, and closes by Escape', async () => {
    const page = await browser.signedIn('/nodes', { language, theme })
    await page.keyboard.press('/')
    const chosen = () => page.locator('.palette [role=option][aria-selected=true]').textContent()
    await page.getByRole('option').nth(1).waitFor()
    const first = await chosen()
    await page.keyboard.press('ArrowDown')
    const second = await chosen()
    expect(second).not.toBe(first)
    await page.keyboard.press('ArrowUp')
    expect(await chosen()).toBe(first)
    await page.keyboard.press('ArrowUp')
    expect(await chosen()).toBe(await page.locator('.palette [role=option]').last().textContent())
    await page.keyboard.press('Escape')
    await page.getByRole('option').first().waitFor({ state: 'hidden' })
    await page.context().close()
  })
})

describe('a question', () => {
  it('takes Enter: a job is triggered by the keyboard alone', async () => {
    const page = await browser.signedIn(`/jobs/${job}`)
    await page.getByRole('button', { name: 'Trigger' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Trigger nightly books?' }).waitFor()
    await page.waitForFunction(() => document.activeElement?.closest('.el-dialog button') !== null)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    const { items } = await server.api<{ items: unknown[] }>('GET', `/api/v1/executions?jobId=${job}`)
    expect(items).toHaveLength(1)
    await page.context().close()
  })

  it('puts the first key into its field, and does nothing that cannot be undone', async () => {
    const page = await browser.signedIn(`/jobs/${job}`)
    await page.getByRole('button', { name: 'Pause' }).click()
    const pause = page.getByRole('dialog', { name: 'Pause nightly books?' })
    await page.waitForFunction(() => document.activeElement?.tagName === 'INPUT')
    await page.keyboard.type('moving')
    expect(await pause.getByLabel('Reason').inputValue()).toBe('moving')
    await page.keyboard.press('Escape')
    await pause.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.waitForFunction(() => document.activeElement?.tagName === 'INPUT')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Delete nightly books?' }).waitFor()
    await server.api('GET', `/api/v1/jobs/${job}`)
    await page.context().close()
  })

  it('makes nobody complain', () => expect(browser.complaints).toEqual([]))
})
