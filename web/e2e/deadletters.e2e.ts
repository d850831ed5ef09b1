import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot, waitFor, type View } from './harness'

let server: Server
let browser: Console

beforeAll(async () => {
  server = await Server.start()
  browser = await Console.start(server)
  const job = await server.api<{ id: string }>('POST', '/api/v1/jobs', {
    name: 'dies', jobType: 'CUSTOM', jobClass: 'fail', jobData: { message: '<b>bad</b> \u202Egnp.exe' }, schedule: { kind: 'NONE' },
    retryPolicy: { maxRetries: 1, intervalMs: 100 },
  })
  for (let n = 0; n < 3; n++) await server.api('POST', `/api/v1/jobs/${job.id}/trigger`, {})
  await waitFor(async () => (await server.api<{ items: unknown[] }>('GET', '/api/v1/dead-letters')).items.length === 3, 30_000)
})
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

describe('dead letters', () => {
  const views: View[] = (['en', 'zh-CN'] as const).flatMap((language) => (['light', 'dark'] as const).map((theme) => ({ language, theme })))
  it.each(views)('can be read by everybody: $language, $theme', async (view) => {
    const page = await browser.signedIn('/dead-letters', view)
    await page.locator('tbody a').first().waitFor()
    await page.getByText('<b>bad</b> ⟨202E⟩gnp.exe').first().waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `deadletters-${view.language}-${view.theme}`)
    await page.context().close()
  })

  it('are only read by viewers', async () => {
    const password = await server.user('vera', 'viewer')
    const page = await browser.signedIn('/dead-letters', {}, { username: 'vera', password })
    await page.locator('tbody a').first().waitFor()
    expect(await page.getByRole('button', { name: 'Replay' }).count()).toBe(0)
    await page.context().close()
  })

  it('are discarded one by one and replayed by cause, with a result for each', async () => {
    const page = await browser.signedIn('/dead-letters')
    await page.getByRole('checkbox', { name: 'Select dies' }).first().check()
    await page.getByRole('status').getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    const result = page.getByRole('dialog', { name: 'What was done' })
    await result.getByText('1 done, 0 not').waitFor()
    await result.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('button', { name: 'Replay' }).first().click()
    await page.getByRole('dialog', { name: 'Replay 2 dead letters of dies?' }).getByRole('button', { name: 'Replay' }).click()
    await result.getByText('2 done, 0 not').waitFor()
    await page.context().close()
  })

  it('make nobody complain', () => expect(browser.complaints).toEqual([]))
})
