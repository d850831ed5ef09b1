import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { findings } from './axe'
import { Console, Server, beforeItReads, shot, waitFor } from './harness'
import { words } from './words'

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

async function signIn(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('User name').fill(username)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

const address = (page: Page) => page.url().slice(server.url.length)

describe('the session', () => {
  it('begins on the page that somebody wanted to see', async () => {
    const page = await (await browser.window()).newPage()
    await page.goto('/nodes?from=mail')
    await page.getByText('First start?').click()
    await page.getByText('initial-admin-password').waitFor()
    expect(await page.title()).toBe('Sign in · Platform scheduler')
    expect(await findings(page)).toEqual([])
    await signIn(page, 'admin', 'not the password')
    await page.getByRole('alert').filter({ hasText: 'is wrong' }).waitFor()
    await signIn(page, 'admin', await server.password())
    await page.getByRole('heading', { name: 'Nodes' }).waitFor()
    expect(address(page)).toBe('/nodes?from=mail')
    expect(await page.title()).toBe('Nodes · Platform scheduler')
    await page.context().close()
  })

  it('is over when the server says so, and goes on at the same place', async () => {
    const password = await server.user('otto', 'operator')
    const page = await browser.signedIn('/nodes?kept=yes', {}, { username: 'otto', password })
    await page.getByRole('row').filter({ hasText: 'Up' }).waitFor()
    const { items } = await server.api<{ items: { id: string; username: string }[] }>('GET', '/api/v1/users')
    const id = items.find((u) => u.username === 'otto')?.id ?? ''
    const next = 'another-Long-9462'
    await beforeItReads(page, async () => {
      await server.api('PUT', `/api/v1/users/${id}`, { role: 'operator', password: next, mustChangePassword: false })
      await page.locator('tbody a').click()
    })
    await page.getByText('Your session is over').waitFor()
    await page.getByRole('dialog').getByText('what you typed').waitFor()
    await signIn(page, 'otto', next)
    await page.getByRole('heading', { name: 'Partitions' }).waitFor()
    expect(address(page)).toMatch(/^\/nodes\/./)
    await page.context().close()
  })

  it('asks for another password where somebody else set it', async () => {
    const password = await server.user('zoe', 'operator', { mustChangePassword: true })
    const page = await (await browser.window()).newPage()
    await page.goto('/nodes')
    await signIn(page, 'zoe', password)
    await page.getByText('Somebody else knows this password').waitFor()
    expect(address(page)).toBe('/password?next=/nodes')
    expect(await findings(page)).toEqual([])
    await shot(page, 'must-change-password')
    const next = 'own-Words-2291'
    await page.getByLabel('Old password').fill(password)
    await page.getByLabel('New password', { exact: true }).fill(next)
    await page.getByLabel('New password again').fill(next)
    const other = await browser.signedIn('/nodes', {}, { username: 'zoe', password })
    await page.getByRole('button', { name: 'Change password' }).click()
    // The first address follows, in a new session; the others ended with the old password.
    await page.getByRole('heading', { name: 'Nodes' }).waitFor()
    expect(address(page)).toBe('/nodes')
    expect((await other.request.get('/api/v1/auth/me')).status()).toBe(401)
    await other.context().close()
    await page.context().close()
  })

  it.each([['en', 'light'], ['zh-CN', 'dark']] as const)('goes from the first password to the first page: %s, %s', async (language, theme) => {
    const w = words(language)
    const name = `new-${language.toLowerCase()}`
    const password = await server.user(name, 'operator', { mustChangePassword: true })
    const page = await (await browser.window({ language, theme })).newPage()
    await page.goto('/')
    await page.getByLabel(w('session.username')).click()
    await page.keyboard.type(name)
    await page.keyboard.press('Tab')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await page.getByText(w('session.mustChange')).waitFor()
    expect(address(page)).toBe('/password')
    expect(await findings(page)).toEqual([])
    const next = 'own-Words-2291'
    for (const [field, typed] of [['old', password], ['next', next], ['repeat', next]] as const) {
      await page.getByLabel(w(`session.${field}`), { exact: true }).click()
      await page.keyboard.type(typed)
    }
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: w('overview.title') }).waitFor()
    expect(address(page)).toBe('/overview')
    // Changed of one's own accord, it ends this session, too, and leads on to the first page, not back here.
    await page.goto('/password')
    const last = 'last-Words-7741'
    for (const [field, typed] of [['old', next], ['next', last], ['repeat', last]] as const) {
      await page.getByLabel(w(`session.${field}`), { exact: true }).click()
      await page.keyboard.type(typed)
    }
    await page.keyboard.press('Enter')
    await page.getByLabel(w('session.username')).click()
    expect(address(page)).toBe('/sign-in')
    await page.keyboard.type(name)
    await page.keyboard.press('Tab')
    await page.keyboard.type(last)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: w('overview.title') }).waitFor()
    await page.context().close()
  })

  it('ends in all tabs at once', async () => {
    const page = await browser.signedIn('/nodes')
    const other = await page.context().newPage()
    await other.goto('/nodes')
    await other.getByRole('heading', { name: 'Nodes' }).waitFor()
    await page.getByRole('button', { name: 'Account of admin' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    for (const tab of [page, other]) await tab.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.context().close()
  })

  it('ends with another password, which works then', async () => {
    const password = await server.user('pia', 'viewer')
    const page = await browser.signedIn('/password', {}, { username: 'pia', password })
    const next = 'better-Words-3391'
    await page.getByLabel('Old password').fill('wrong')
    await page.getByLabel('New password', { exact: true }).fill(next)
    await page.getByLabel('New password again').fill(next)
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText(/password/i).filter({ hasText: /wrong|not/i }).first().waitFor()
    await page.getByLabel('Old password').fill(password)
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await signIn(page, 'pia', next)
    await page.getByRole('button', { name: 'Account of pia' }).waitFor()
    await page.context().close()
  })
})

describe('the shell', () => {
  it('finds pages by keys, and says which keys there are', async () => {
    const page = await browser.signedIn('/password')
    await page.locator('h1').click()
    await page.keyboard.press('g')
    await page.keyboard.press('n')
    await page.getByRole('heading', { name: 'Nodes' }).waitFor()
    await page.keyboard.press('/')
    await page.getByRole('combobox', { name: 'part of a job' }).fill('nod')
    await page.getByRole('option', { name: 'Nodes' }).waitFor()
    expect(await findings(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('combobox', { name: 'part of a job' }).waitFor({ state: 'hidden' })
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    expect(await findings(page)).toEqual([])
    await page.context().close()
  })

  it('keeps language and theme', async () => {
    const page = await browser.signedIn('/nodes')
    await page.getByRole('button', { name: 'Account of admin' }).click()
    await page.getByRole('radio', { name: '简体中文' }).check()
    await page.getByRole('heading', { name: '节点' }).waitFor()
    await page.getByRole('radio', { name: '深色' }).check()
    expect(await findings(page)).toEqual([])
    await page.reload()
    await page.getByRole('heading', { name: '节点' }).waitFor()
    expect(await page.evaluate(() => [document.documentElement.lang, document.documentElement.className])).toEqual(['zh-CN', 'dark'])
    await page.context().close()
  })

  it('says what does not exist', async () => {
    const page = await browser.signedIn('/nowhere')
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    expect(await findings(page)).toEqual([])
    await page.context().close()
  })

  it('can be used on a phone', async () => {
    const page = await browser.signedIn('/password', { width: 390, height: 760 })
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await page.getByRole('link', { name: 'Nodes' }).click()
    await page.getByRole('heading', { name: 'Nodes' }).waitFor()
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)
    expect(wide).toBe(false)
    expect(await findings(page)).toEqual([])
    await shot(page, 'phone')
    await page.context().close()
  })

  it('is told of changes at once, also in a tab that holds no stream', async () => {
    const page = await browser.signedIn('/nodes')
    const streams: string[] = []
    const other = await page.context().newPage()
    for (const tab of [page, other]) tab.on('request', (r) => r.url().includes('/live?') && streams.push(r.url()))
    await other.goto('/nodes')
    const id = (await other.locator('tbody a').first().textContent()) ?? ''
    await page.getByText('Live', { exact: true }).waitFor()
    await other.getByText('Live', { exact: true }).waitFor()
    await server.api('POST', `/api/v1/nodes/${id}/drain`)
    for (const tab of [page, other]) await tab.getByText('Draining').waitFor()
    await server.api('POST', `/api/v1/nodes/${id}/resume`)
    await page.context().close()
  })

  it('waits for a server that is away, and goes on', async () => {
    const page = await browser.signedIn('/nodes')
    await page.getByRole('row').filter({ hasText: 'Up' }).waitFor()
    await server.stop()
    await page.locator('tbody a').click()
    await page.getByText('The server does not answer').first().waitFor({ timeout: 30_000 })
    expect(await findings(page)).toEqual([])
    await shot(page, 'offline')
    await server.run()
    await waitFor(async () => (await page.getByText('The server does not answer').count()) === 0, 30_000)
    await page.getByRole('heading', { name: 'About' }).waitFor()
    await page.context().close()
  })

  it('makes nobody complain', () => expect(browser.complaints).toEqual([]))
})
