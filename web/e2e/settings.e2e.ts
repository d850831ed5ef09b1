import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot, waitFor, type View } from './harness'

const key = Buffer.alloc(32, 7).toString('base64')
let server: Server
let browser: Console

beforeAll(async () => {
  server = await Server.start({ PS_SECRETS_KEY: key, PS_RETENTION_AUDIT_DAYS: '42' })
  browser = await Console.start(server)
})
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

describe('settings', () => {
  it('show values with their source, and no secret', async () => {
    const page = await browser.signedIn('/settings')
    const audit = page.getByRole('row').filter({ hasText: 'retention.auditDays' })
    expect(await audit.textContent()).toContain('42')
    expect(await audit.textContent()).toContain('environment')
    await page.locator('dd').filter({ hasText: '42 days' }).waitFor()
    await page.getByRole('row').filter({ hasText: 'secrets.key' }).getByText('set, not shown').waitFor()
    expect(await page.content()).not.toContain(key)
    await page.context().close()
  })

  it('are found, and the address keeps what was looked for', async () => {
    const page = await browser.signedIn('/settings')
    await page.getByRole('textbox', { name: 'Part of a name or meaning' }).fill('AUDIT_DAYS')
    await waitFor(async () => (await page.locator('main tbody tr').count()) === 1)
    await page.reload()
    await waitFor(async () => (await page.locator('main tbody tr').count()) === 1)
    await page.getByRole('textbox', { name: 'Part of a name or meaning' }).fill('nothing like this')
    await page.getByText('Nothing matches these filters').waitFor()
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await page.getByText('Only what is not at its default').click()
    await waitFor(async () => (await page.locator('main tbody tr').filter({ hasText: 'default' }).count()) === 0)
    await page.context().close()
  })

  const views: View[] = (['en', 'zh-CN'] as const).flatMap((language) => (['light', 'dark'] as const).map((theme) => ({ language, theme })))
  it.each(views)('can be read by everybody: $language, $theme', async (view) => {
    const page = await browser.signedIn('/settings', view)
    await page.locator('main tbody tr').first().waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `settings-${view.language}-${view.theme}`)
    await page.context().close()
  })

  it('make nobody complain', () => expect(browser.complaints).toEqual([]))
})
