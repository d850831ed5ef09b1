import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { findings } from './axe'
import { Console, Server, shot } from './harness'
import { words } from './words'

const NAME = 'deeply buried job'

let server: Server
let browser: Console

beforeAll(async () => {
  server = await Server.start()
  await server.api('POST', '/api/v1/jobs', { name: NAME, jobType: 'CUSTOM', jobClass: 'noop' })
  browser = await Console.start(server)
})
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

/**
 * A store so large that a page of the search ends before anything is found: so many pages are empty, and a page that
 * `held` names is answered when it is let go.
 */
async function largeStore(page: Page, empty: number, held = -1): Promise<() => void> {
  let letGo: () => void = () => undefined
  const gone = new Promise<void>((go) => (letGo = go))
  await page.route(/\/api\/v1\/jobs\?.*name=/, async (route) => {
    const url = new URL(route.request().url())
    const at = Number(url.searchParams.get('cursor')?.replace('page-', '') ?? 0)
    if (at === held) await gone
    if (at < empty) {
      const searchedUntil = new Date(Date.UTC(2026, 10, 20 - at)).toISOString()
      return route.fulfill({ json: { items: [], nextCursor: `page-${at + 1}`, searchedUntil } })
    }
    url.searchParams.delete('cursor')
    return route.continue({ url: url.href })
  })
  return letGo
}

describe.each([['en', 'light'], ['zh-CN', 'dark']] as const)('a search in a large store: %s, %s', (language, theme) => {
  const w = words(language)

  it('goes on in the palette until it finds what is there', async () => {
    const page = await browser.signedIn('/nodes', { language, theme })
    const letGo = await largeStore(page, 3, 2)
    await page.keyboard.press('/')
    await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'combobox')
    await page.keyboard.type('deeply')
    const dialog = page.getByRole('dialog')
    await dialog.getByText(w('shared.search.searching')).waitFor()
    await dialog.getByText('2026-11-19').waitFor()
    expect(await dialog.getByText(w('app.palette.nothing'), { exact: true }).count()).toBe(0)
    expect(await findings(page)).toEqual([])
    letGo()
    await page.getByRole('option', { name: NAME }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: NAME }).waitFor()
    await page.context().close()
  })

  it('is stopped in the palette, and goes on from there', async () => {
    const page = await browser.signedIn('/nodes', { language, theme })
    const letGo = await largeStore(page, 5, 2)
    await page.keyboard.press('/')
    await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'combobox')
    await page.keyboard.type('deeply')
    await page.getByRole('button', { name: w('shared.search.stop'), exact: true }).click()
    letGo()
    await page.getByText(w('shared.search.stopped')).waitFor()
    expect(await page.getByText(w('app.palette.nothing'), { exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: w('shared.search.goOn'), exact: true }).click()
    await page.getByRole('option', { name: NAME }).waitFor()
    await page.context().close()
  })

  it('goes on in a list, stops, and says that nothing matches at the end alone', async () => {
    const page = await browser.signedIn('/jobs', { language, theme })
    const letGo = await largeStore(page, 4, 2)
    await page.getByRole('searchbox', { name: w('jobs.search') }).click()
    await page.keyboard.type('deeply')
    const table = page.locator('main .table')
    await table.getByText('2026-11-19').waitFor()
    await table.getByText(w('shared.search.searching')).waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `search-${language}-${theme}`)
    await table.getByRole('button', { name: w('shared.search.stop'), exact: true }).click()
    letGo()
    await table.getByText(w('shared.search.stopped')).waitFor()
    expect(await table.getByText(w('shared.empty.filtered')).count()).toBe(0)
    await table.getByRole('button', { name: w('shared.search.goOn'), exact: true }).click()
    await page.getByRole('link', { name: NAME }).waitFor()
    // One step back is the list before the search, not an empty page of it.
    await page.goBack()
    await page.waitForURL((url) => !url.searchParams.has('name'))
    await page.getByRole('searchbox', { name: w('jobs.search') }).click()
    await page.keyboard.type('nobody')
    await table.getByText(w('shared.empty.filtered')).waitFor()
    await page.context().close()
  })
})

it('makes nobody complain', () => expect(browser.complaints).toEqual([]))
