import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { findings } from './axe'
import { Console, Server, beforeItReads, shot } from './harness'
import { words } from './words'

let server: Server
let browser: Console
const ids: Record<string, string> = {}
const passwords: Record<string, string> = {}

async function user(name: string): Promise<void> {
  passwords[name] = await server.user(name, 'operator')
  const { items } = await server.api<{ items: { id: string; username: string }[] }>('GET', '/api/v1/users')
  ids[name] = items.find((u) => u.username === name)?.id ?? ''
}

beforeAll(async () => {
  server = await Server.start()
  await user('ann')
  await user('bob')
  browser = await Console.start(server)
})
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

const endSessions = (name: string) => server.api('DELETE', `/api/v1/users/${ids[name]}/sessions`)
const signedIn = (address: string, view = {}) => browser.signedIn(address, view, { username: 'ann', password: passwords['ann'] ?? '' })
const address = (page: Page) => page.url().slice(server.url.length)
const jobs = async (name: string) => (await server.api<{ items: { name: string }[] }>('GET', `/api/v1/jobs?name=${name}`)).items.map((j) => j.name)
const keptByTheBrowser = (page: Page) => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))

describe.each([['en', 'light'], ['zh-CN', 'dark']] as const)('a session that ends under a form: %s, %s', (language, theme) => {
  const w = words(language)
  const over = (page: Page) => page.getByRole('dialog', { name: w('session.overTitle') })

  it('asks for the password over the page, and what was typed is saved then', async () => {
    const page = await signedIn('/jobs/new', { language, theme })
    const name = `draft-${language.toLowerCase()}`
    await page.getByRole('textbox', { name: w('jobform.field.name'), exact: true }).click()
    await page.keyboard.type(name)
    await page.getByRole('textbox', { name: w('jobform.field.jobData.url') }).click()
    await page.keyboard.type('http://127.0.0.1:8081/kept')
    await beforeItReads(page, async () => {
      await endSessions('ann')
      await page.getByRole('button', { name: w('jobform.make'), exact: true }).click()
    })
    await over(page).getByText(w('session.overText')).waitFor()
    await page.getByText(w('session.overText')).waitFor()
    // The page is still there below it, and nothing of it was put away.
    expect(address(page)).toBe('/jobs/new')
    expect(await page.getByLabel(w('jobform.field.name'), { exact: true }).inputValue()).toBe(name)
    expect(await keptByTheBrowser(page)).not.toContain(name)
    expect(await findings(page)).toEqual([])
    await shot(page, `session-over-${language}-${theme}`)
    // The password takes the first key.
    await page.keyboard.type('not the password')
    await page.keyboard.press('Enter')
    await over(page).getByText(w('session.wrong')).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+a')
    await page.keyboard.type(passwords['ann'] ?? '')
    await page.keyboard.press('Enter')
    // The call that waited is sent once: the job is there, and so is its page.
    await page.getByRole('heading', { level: 1, name }).waitFor()
    expect(await jobs(name)).toEqual([name])
    await page.context().close()
  })

  it('saves a change by the version that was opened', async () => {
    const { id } = await server.api<{ id: string }>('POST', '/api/v1/jobs', { name: `edited-${language}`, jobType: 'CUSTOM', jobClass: 'noop' })
    const page = await signedIn(`/jobs/${id}/edit`, { language, theme })
    await page.getByRole('textbox', { name: w('jobform.field.description'), exact: true }).click()
    await page.keyboard.type('typed before')
    await beforeItReads(page, async () => {
      await endSessions('ann')
      // Another person changes it while the sign-in is asked for: that is told, and nothing is overwritten.
      await server.api('POST', `/api/v1/jobs/${id}/pause`, { reason: 'meanwhile' })
      await page.getByRole('button', { name: w('shared.action.save'), exact: true }).click()
    })
    await over(page).getByText(w('session.overText')).waitFor()
    await page.keyboard.type(passwords['ann'] ?? '')
    await page.keyboard.press('Enter')
    await over(page).waitFor({ state: 'hidden' })
    await page.getByRole('dialog').getByText('admin').waitFor()
    expect(await page.getByLabel(w('jobform.field.description'), { exact: true }).inputValue()).toBe('typed before')
    await page.context().close()
  })

  it('gives the page to another user anew, after a question', async () => {
    const page = await signedIn('/jobs/new', { language, theme })
    const name = `lost-${language.toLowerCase()}`
    await page.getByRole('textbox', { name: w('jobform.field.name'), exact: true }).click()
    await page.keyboard.type(name)
    await page.getByRole('textbox', { name: w('jobform.field.jobData.url') }).click()
    await page.keyboard.type('http://127.0.0.1:8081/lost')
    await beforeItReads(page, async () => {
      await endSessions('ann')
      await page.getByRole('button', { name: w('jobform.make'), exact: true }).click()
    })
    const username = over(page).getByLabel(w('session.username'))
    await username.click({ clickCount: 3 })
    await page.keyboard.type('bob')
    await page.keyboard.press('Tab')
    await page.keyboard.type(passwords['bob'] ?? '')
    await page.keyboard.press('Enter')
    await over(page).getByText(w('session.another', { now: 'bob', before: 'ann' })).waitFor()
    expect(await page.getByLabel(w('jobform.field.name'), { exact: true }).inputValue()).toBe(name)
    expect(await findings(page)).toEqual([])
    await shot(page, `session-another-${language}-${theme}`)
    await over(page).getByRole('button', { name: w('session.goOn', { name: 'bob' }) }).click()
    await page.getByRole('button', { name: w('app.accountOf', { name: 'bob' }) }).waitFor()
    expect(await page.getByRole('textbox', { name: w('jobform.field.name'), exact: true }).inputValue()).toBe('')
    expect(address(page)).toBe('/jobs/new')
    expect(await jobs(name)).toEqual([])
    await page.context().close()
  })
})

describe('a session that is over', () => {
  const w = words('en')

  it('holds one tab until another signs in', async () => {
    const page = await signedIn('/nodes')
    const other = await page.context().newPage()
    await other.goto('/nodes')
    await other.getByRole('heading', { name: 'Nodes' }).waitFor()
    await endSessions('ann')
    for (const tab of [page, other]) {
      const said = tab.getByText(w('session.overText'))
      // A page that reads by itself may have noticed before the click, which the dialog keeps from the link then.
      const click = tab.getByRole('link', { name: 'Jobs', exact: true }).click({ timeout: 3_000 })
      await Promise.race([said.waitFor(), click.catch(() => undefined)])
      await said.waitFor()
      await click.catch(() => undefined)
    }
    await other.bringToFront()
    await other.keyboard.type(passwords['ann'] ?? '')
    await other.keyboard.press('Enter')
    for (const tab of [page, other]) await tab.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByRole('heading', { level: 1, name: /^(Jobs|Nodes)$/ }).waitFor()
    await page.context().close()
  })

  it('lets one leave the page for the sign-in page', async () => {
    const page = await signedIn('/jobs/new')
    await page.getByRole('textbox', { name: w('jobform.field.name'), exact: true }).click()
    await page.keyboard.type('given up')
    await beforeItReads(page, async () => {
      await endSessions('ann')
      await page.getByRole('link', { name: 'Nodes', exact: true }).click()
    })
    await page.getByRole('dialog').getByRole('button', { name: /leave/i }).first().click()
    await page.getByText(w('session.overText')).waitFor()
    await page.getByRole('button', { name: w('session.leave') }).click()
    await page.getByText(w('session.first')).waitFor()
    expect(address(page)).toBe('/sign-in?next=/nodes')
    await page.context().close()
  })

  it('makes nobody complain', () => expect(browser.complaints).toEqual([]))
})
