import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot, type View } from './harness'

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

describe('nodes', () => {
  it('are listed, drained and resumed', async () => {
    const page = await browser.signedIn('/nodes')
    const row = page.getByRole('row').filter({ hasText: 'Up' })
    await row.getByRole('link').click()
    await page.getByRole('heading', { name: 'Partitions' }).waitFor()
    const id = (await page.locator('h1').textContent())?.split(' ')[0] ?? ''
    expect(new URL(page.url()).pathname).toBe(`/nodes/${id}`)

    await page.getByRole('button', { name: 'Drain' }).click()
    const dialog = page.getByRole('dialog', { name: `Drain ${id}?` })
    await dialog.getByRole('button', { name: 'Drain' }).click()
    await page.locator('h1').getByText('Draining').waitFor()
    expect(await server.api(`GET`, `/api/v1/nodes/${id}`)).toMatchObject({ status: 'DRAINING' })

    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
    await page.locator('h1').getByText('Up').waitFor()
    await page.context().close()
  })

  it('are only read by viewers', async () => {
    const password = await server.user('vera', 'viewer')
    const page = await browser.signedIn('/nodes', {}, { username: 'vera', password })
    await page.getByRole('row').filter({ hasText: 'Up' }).waitFor()
    expect(await page.getByRole('button', { name: 'Drain' }).count()).toBe(0)
    await page.context().close()
  })

  it('say where one does not exist', async () => {
    const page = await browser.signedIn('/nodes/nobody')
    await page.getByRole('alert').filter({ hasText: 'does not exist' }).waitFor()
    await page.context().close()
  })

  const views: View[] = (['en', 'zh-CN'] as const).flatMap((language) => (['light', 'dark'] as const).map((theme) => ({ language, theme })))
  it.each(views)('can be read by everybody: $language, $theme', async (view) => {
    const page = await browser.signedIn('/nodes', view)
    await page.locator('tbody a').first().waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `nodes-${view.language}-${view.theme}`)
    await page.locator('tbody a').first().click()
    await page.locator('section.card').first().waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `node-${view.language}-${view.theme}`)
    await page.context().close()
  })

  it('make nobody complain', () => expect(browser.complaints).toEqual([]))
})
