import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server } from './harness'

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

const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

describe('the audit log', () => {
  it('is filtered, shows before and after, and leads to objects', async () => {
    await server.api('POST', '/api/v1/groups', { name: 'audited', maxConcurrency: 3 })
    await server.api('PUT', '/api/v1/groups/audited', { maxConcurrency: 8 })
    const page = await browser.signedIn('/audit')
    await page.getByRole('textbox', { name: 'Id of the object' }).fill('audited')
    await page.keyboard.press('Enter')
    await row(page, 'audited').filter({ hasText: 'Group: change' }).getByRole('button', { name: /Group: change/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Group: change' })
    const change = dialog.getByRole('row').filter({ hasText: 'maxConcurrency' })
    expect(await change.getByRole('cell').allTextContents()).toEqual(['3', '8'])
    expect(await findings(page)).toEqual([])
    // The state stands in the address.
    await page.reload()
    await dialog.getByRole('row').filter({ hasText: 'maxConcurrency' }).waitFor()
    await dialog.getByRole('link', { name: 'audited' }).click()
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()
    await page.context().close()
  })

  it('is exported with its filters', async () => {
    const page = await browser.signedIn('/audit?object=audited')
    const waits = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export as CSV' }).click()
    const file = await (await waits).createReadStream()
    const parts: Buffer[] = []
    for await (const part of file) parts.push(part as Buffer)
    const lines = Buffer.concat(parts).toString().trim().split('\n')
    expect(lines[0]).toMatch(/^id,time,userId/)
    expect(lines.slice(1).every((line) => line.includes('audited'))).toBe(true)
    expect(lines.length).toBeGreaterThan(2)
    await page.context().close()
  })

  it('finds nothing before the beginning, and says so', async () => {
    const page = await browser.signedIn('/audit?to=2020-01-01T00:00:00Z')
    await page.getByText('Nothing matches these filters').waitFor()
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('2020-01-01T01:00')
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await page.locator('tbody tr').first().waitFor()
    await page.context().close()
  })

  it('makes nobody complain', () => expect(browser.complaints).toEqual([]))
})
