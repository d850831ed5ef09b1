import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot, waitFor, type View } from './harness'

let server: Server
let browser: Console

const job = (name: string, more: Record<string, unknown>) => ({ name, jobType: 'CUSTOM', jobClass: 'echo', jobData: { text: 'x' }, ...more })
const cron = (cronExpression: string) => ({ schedule: { kind: 'CRON', cronExpression, timeZone: 'UTC' } })

beforeAll(async () => {
  server = await Server.start()
  browser = await Console.start(server)
  for (let n = 0; n < 24; n++) {
    await server.api('POST', '/api/v1/jobs', job(`noon-${n}`, cron('0 0 12 * * ?')))
  }
  await server.api('POST', '/api/v1/jobs', job('steady', cron('0 0/7 * * * ?')))
})
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

describe('the overview', () => {
  it('is the first page, and shows the stampede of noon', async () => {
    const page = await browser.signedIn('/')
    await page.getByRole('heading', { name: 'The coming day' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/overview')
    const note = page.getByRole('note')
    // Noon of UTC in the zone of the browser, Berlin.
    await note.getByText(/1[34]:00 \(2[45] starts\)/).waitFor()
    expect(await page.locator('.map tbody tr').count()).toBeGreaterThanOrEqual(24)
    await page.locator('.map rect.level-5').first().hover()
    await page.locator('.foot').getByText('planned starts').waitFor()
    await page.context().close()
  })

  it('offers nobody who may only look to spread it', async () => {
    const password = await server.user('looker', 'viewer')
    const page = await browser.signedIn('/overview', {}, { username: 'looker', password })
    await page.getByRole('note').waitFor()
    expect(await page.getByRole('button', { name: /^Spread/ }).count()).toBe(0)
    await page.context().close()
  })

  it.each(['light', 'dark'] as const)('shows before and after of a spread, %s', async (theme) => {
    const page = await browser.signedIn('/overview', { theme, language: theme === 'dark' ? 'zh-CN' : 'en' })
    await page.getByRole('note').getByRole('button').first().click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('canvas').waitFor()
    await dialog.getByText('noon-3', { exact: true }).waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `overview-spread-${theme}`)
    await page.context().close()
  })

  it('spreads the stampede, after a look at what it does', async () => {
    const page = await browser.signedIn('/overview')
    await page.getByRole('button', { name: /^Spread 1[34]:00$/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/The fullest minute: 2[45] before, \d+ after/).waitFor()
    await dialog.locator('label').filter({ hasText: /^15 min$/ }).click()
    await dialog.getByText(/The fullest minute: 2[45] before, \d after/).waitFor()
    await dialog.getByText('24 jobs get this jitter').or(dialog.getByText('25 jobs get this jitter')).waitFor()
    const jitters = async () => (await server.api<{ items: { name: string; schedule: { jitterMs?: number } }[] }>('GET', '/api/v1/jobs?name=noon&limit=50'))
      .items.filter((j) => (j.schedule.jitterMs ?? 0) === 900_000).length
    expect(await jitters(), 'a look changes nothing').toBe(0)
    await dialog.getByRole('button', { name: /^Spread 2[45] jobs$/ }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await jitters()).toBe(24)
    await page.getByText('The busiest minute is').waitFor()
    expect(await page.getByRole('note').count()).toBe(0)
    await page.context().close()
  })

  it('groups what failed by cause, live', async () => {
    const page = await browser.signedIn('/overview')
    await page.getByText('Nothing failed in the last day').waitFor()
    const broken = await server.api<{ id: string }>('POST', '/api/v1/jobs', job('broken <b>&', { jobClass: 'fail', jobData: { message: 'no <i>paper</i> & no ink' }, retryPolicy: { maxRetries: 1, intervalMs: 100 } }))
    await server.api('POST', `/api/v1/jobs/${broken.id}/trigger`, {})
    const cause = page.locator('.causes li').filter({ hasText: 'broken <b>&' })
    await cause.getByText('no <i>paper</i> & no ink').waitFor({ timeout: 30_000 })
    await waitFor(async () => (await page.locator('.tile').filter({ hasText: 'Dead letters' }).locator('.value').textContent())?.trim() === '1')
    await page.context().close()
  })

  it('goes on after the server was away', async () => {
    const page = await browser.signedIn('/overview')
    await page.getByText('The busiest minute').or(page.getByRole('note')).first().waitFor()
    await server.stop()
    await server.run()
    await page.getByRole('status').filter({ hasText: 'does not answer' }).waitFor({ state: 'detached' })
    expect(await page.locator('.tile').count()).toBe(6)
    await page.context().close()
  })

  const views: View[] = (['en', 'zh-CN'] as const).flatMap((language) => (['light', 'dark'] as const).map((theme) => ({ language, theme })))
  it.each(views)('can be read by everybody: $language, $theme', async (view) => {
    const page = await browser.signedIn('/overview', view)
    await page.locator('.map').waitFor()
    await page.locator('.bars rect').first().waitFor({ state: 'attached' })
    expect(await findings(page)).toEqual([])
    await shot(page, `overview-${view.language}-${view.theme}`)
    await page.context().close()
  })

  it('fits a phone', async () => {
    const page = await browser.signedIn('/overview', { width: 390, height: 844 })
    await page.locator('.map').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    await shot(page, 'overview-phone')
    await page.context().close()
  })

  it('makes nobody complain', () => expect(browser.complaints).toEqual([]))
})
