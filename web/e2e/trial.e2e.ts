import { createServer, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot } from './harness'

let server: Server
let browser: Console

beforeAll(async () => {
  server = await Server.start()
  browser = await Console.start(server)
})
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

const words = {
  en: { handler: 'Handler', url: 'URL', button: 'Try it', run: 'Run it once', done: 'Succeeded' },
  'zh-CN': { handler: '处理器', url: 'URL', button: '试运行', run: '运行一次', done: '成功' },
} as const

/** How many jobs and executions are stored. */
async function stored(): Promise<number[]> {
  return Promise.all(['jobs', 'executions'].map(async (what) =>
    (await server.api<{ items: unknown[] }>('GET', `/api/v1/${what}?limit=200`)).items.length))
}

/** A port that nobody listens on: it was free a moment ago. */
async function closedPort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

describe('a trial of a draft', () => {
  it.each(['en', 'zh-CN'] as const)('runs a handler, and stores nothing: %s', async (language) => {
    const w = words[language]
    const before = await stored()
    const page = await browser.signedIn('/jobs/new', { language })
    await page.locator('.choice').filter({ hasText: w.handler }).click()
    await page.locator('[data-field="jobClass"] input').click()
    await page.keyboard.type('echo')
    // The list narrows a moment after the key; Enter before that takes another handler.
    await page.getByRole('option', { name: 'echo', exact: true }).click()
    await page.locator('.cm-content').click()
    await page.keyboard.press('Control+A')
    await page.keyboard.type('{"text": "said by a draft"')
    await page.locator('.cm-content').getByText('{"text": "said by a draft"}').waitFor()
    await page.getByRole('button', { name: w.button, exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: w.run }).click()
    await dialog.getByText(w.done, { exact: true }).waitFor()
    await dialog.getByText('said by a draft').first().waitFor()
    await shot(page, `trial-${language}`)
    expect(await findings(page)).toEqual([])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    expect(await stored()).toEqual(before)
    await page.context().close()
  })

  it('shows why a call failed', async () => {
    const page = await browser.signedIn('/jobs/new')
    await page.getByRole('textbox', { name: 'URL' }).fill(`http://127.0.0.1:${await closedPort()}/nobody`)
    await page.getByRole('button', { name: 'Try it', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Run it once' }).click()
    await dialog.getByText('Failed', { exact: true }).waitFor()
    await dialog.getByText(/connection refused/).first().waitFor()
    expect(await findings(page)).toEqual([])
    await page.context().close()
  })

  it('takes what is wrong with the draft back to its field', async () => {
    const page = await browser.signedIn('/jobs/new')
    await page.getByRole('textbox', { name: 'URL' }).fill('nowhere')
    await page.getByRole('button', { name: 'Try it', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Run it once' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.locator('[data-field="jobData.url"] .el-form-item__error').waitFor()
    await page.context().close()
  })

  it('is not offered to who may not run such a job', async () => {
    const viewer = { username: 'vera', password: await server.user('vera', 'viewer') }
    const seeing = await browser.signedIn('/jobs/new', {}, viewer)
    expect(await seeing.getByRole('button', { name: 'Try it', exact: true }).count()).toBe(0)
    await seeing.context().close()
    const operator = { username: 'olga', password: await server.user('olga', 'operator') }
    const page = await browser.signedIn('/jobs/new', {}, operator)
    const button = page.getByRole('button', { name: 'Try it', exact: true })
    expect(await button.isEnabled()).toBe(true)
    await page.locator('.choice').filter({ hasText: 'Script or command' }).click()
    expect(await button.isDisabled()).toBe(true)
    expect(await page.locator('.offer').getAttribute('title')).toContain('job:command')
    await page.context().close()
  })
})
