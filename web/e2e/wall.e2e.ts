import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot, waitFor, type View } from './harness'

let server: Server
let browser: Console

const hostile = '<img src=x onerror=alert(1)> {{7*7}} عبری'
const TV = { width: 1920, height: 1080 }
const job = (name: string, more: Record<string, unknown> = {}) => ({ name, jobType: 'CUSTOM', jobClass: 'echo', jobData: { text: 'x' }, ...more })

async function tokenOf(scopes: string[]): Promise<{ id: string; token: string }> {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  return server.api('POST', '/api/v1/tokens', { name: `wall-${Math.random()}`, scopes, expiresAt })
}
const READING = ['job:read', 'execution:read', 'alert:read']

/** A window that nobody is signed in to, as a TV has. */
async function tv(address: string, view: View = {}): Promise<Page> {
  const page = await (await browser.window({ ...TV, ...view })).newPage()
  await page.goto(address)
  return page
}

beforeAll(async () => {
  server = await Server.start()
  browser = await Console.start(server)
  const every = { schedule: { kind: 'CRON', cronExpression: '0 0/5 * * * ?', timeZone: 'UTC' } }
  for (let n = 0; n < 6; n++) await server.api('POST', '/api/v1/jobs', job(`every-five-${n}`, every))
  const broken = await server.api<{ id: string }>('POST', '/api/v1/jobs', job(hostile, { jobClass: 'fail', jobData: { message: 'no <i>paper</i>' } }))
  await server.api('POST', `/api/v1/jobs/${broken.id}/trigger`, {})
  await waitFor(async () => (await server.api<{ items: unknown[] }>('GET', '/api/v1/alerts?status=FIRING')).items.length > 0, 30_000)
})
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

describe('the wall', () => {
  it('shows the session what is on, and leads back', async () => {
    const page = await browser.signedIn('/wall', TV)
    expect(await page.locator('nav').count()).toBe(0)
    await page.locator('[data-name=failing] .value').getByText('1', { exact: true }).waitFor()
    await page.locator('[data-name=nodes] .value').getByText('1', { exact: true }).waitFor()
    await page.locator('.panel').filter({ hasText: 'Last failures' }).getByText(hostile).waitFor()
    await page.locator('.panel').filter({ hasText: 'Firing alerts' }).locator('li').first().waitFor()
    await page.locator('.strip rect.most').first().waitFor({ state: 'attached' })
    await page.getByRole('link', { name: 'Console' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.context().close()
  })

  it('reads by a token of the fragment, which leaves the address at once and no log', async () => {
    const { id, token } = await tokenOf(READING)
    const context = await browser.window(TV)
    const page = await context.newPage()
    const asked: string[] = []
    const lines: string[] = []
    page.on('request', (r) => asked.push(r.url() + (r.headers()['referer'] ?? '')))
    page.on('console', (line) => lines.push(line.text()))
    await page.goto(`/wall#token=${token}`)
    const number = page.locator('[data-name=failing] .value')
    await number.getByText('1', { exact: true }).waitFor()
    expect(new URL(page.url()).hash).toBe('')
    expect(await page.evaluate(() => JSON.stringify(history.state) + document.cookie + JSON.stringify({ ...localStorage }))).not.toContain(token)
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).toContain(token)
    expect([...asked, ...lines].filter((text) => text.includes(token))).toEqual([])
    expect(await page.getByRole('link', { name: 'Console' }).count()).toBe(0)

    // It comes back after a reload, shows changes by itself, and another token may be pasted.
    await page.reload()
    await number.waitFor()
    const { id: job } = await server.api<{ id: string }>('POST', '/api/v1/jobs', { name: 'late one', jobType: 'CUSTOM', jobClass: 'fail', jobData: { message: 'no' } })
    await server.api('POST', `/api/v1/jobs/${job}/trigger`, {})
    await number.getByText('2', { exact: true }).waitFor({ timeout: 20_000 })
    const other = await tokenOf(READING)
    await page.evaluate((hash) => { location.hash = hash }, `token=${other.token}`)
    await waitFor(() => new URL(page.url()).hash === '')
    await server.api('DELETE', `/api/v1/tokens/${id}`)
    await page.reload()
    await number.waitFor()

    // A token that is revoked says so, and the page stays.
    await server.api('DELETE', `/api/v1/tokens/${other.id}`)
    await page.getByText('The token does not count').waitFor({ timeout: 20_000 })
    expect(new URL(page.url()).pathname).toBe('/wall')
    await page.getByRole('button', { name: 'Forget the token' }).click()
    await page.getByText('Nobody is signed in').waitFor()
    await context.close()
  })

  it('does not end the session when its token is refused', async () => {
    const page = await browser.signedIn('/wall#token=ps_wrong', TV)
    await page.getByText('The token does not count').waitFor()
    await page.goto('/overview')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/overview')
    await page.context().close()
  })

  it('says what a narrow token may not read', async () => {
    const { token } = await tokenOf(['job:read'])
    const page = await tv(`/wall#token=${token}`)
    await page.locator('[data-name=running]').waitFor()
    await page.getByText('This needs the permission alert:read.').waitFor()
    await page.getByText('This needs the permission execution:read.').waitFor()
    await page.context().close()
  })

  it('says nothing to nobody, and leads to the sign-in', async () => {
    const page = await tv('/wall')
    await page.getByText('Nobody is signed in').waitFor()
    await page.getByRole('link', { name: 'Sign in' }).click()
    await waitFor(() => new URL(page.url()).pathname === '/sign-in')
    await page.context().close()
  })

  const views: View[] = (['en', 'zh-CN'] as const).flatMap((language) => (['light', 'dark'] as const).map((theme) => ({ language, theme })))
  it.each(views)('can be read by everybody, from afar: $language, $theme', async (view) => {
    const { token } = await tokenOf(READING)
    const page = await tv(`/wall#token=${token}`, view)
    await page.locator('.strip').waitFor()
    await page.locator('.panel li').nth(1).waitFor()
    expect(await findings(page)).toEqual([])
    const sizes = await page.evaluate(() => ['.figure .value', '.figure dt', '.panel .words'].map((s) => parseFloat(getComputedStyle(document.querySelector(s) as Element).fontSize)))
    expect(sizes[0]).toBeGreaterThanOrEqual(70)
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(24)
    // Nothing is cut: neither the page, nor a number.
    expect(await page.evaluate(() => [...document.querySelectorAll('.wall, .figure')].filter((e) => e.scrollHeight > e.clientHeight || e.scrollWidth > e.clientWidth).map((e) => e.textContent))).toEqual([])
    await shot(page, `wall-${view.language}-${view.theme}`)
    await page.context().close()
  })

  it('fits a phone', async () => {
    const page = await browser.signedIn('/wall', { width: 390, height: 844 })
    await page.locator('.strip').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    await shot(page, 'wall-phone')
    await page.context().close()
  })

  it('says that it lost its server, and how old its figures are', async () => {
    const { token } = await tokenOf(READING)
    const page = await tv(`/wall#token=${token}`)
    await page.locator('[data-name=running]').waitFor()
    await server.stop()
    const lost = page.locator('.lost')
    await lost.getByText(/The server does not answer\. These figures are \d+ s old\./).waitFor({ timeout: 40_000 })
    await page.locator('[data-name=failing] .value').waitFor()
    await shot(page, 'wall-lost')
    await server.run()
    await lost.waitFor({ state: 'detached', timeout: 40_000 })
    await page.context().close()
  })

  it('makes nobody complain', () => expect(browser.complaints).toEqual([]))
})
