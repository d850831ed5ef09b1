import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot, type View } from './harness'

const kinds = ['rules', 'channels', 'silences', 'routes', 'templates', 'teams', 'contacts', 'on-call']
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

describe('settings of alerts', () => {
  it('make a channel, whose secret is not shown, and try it', async () => {
    const page = await browser.signedIn('/alerts/channels/new')
    await page.getByLabel('Name', { exact: true }).fill('billing hook')
    await page.getByLabel('Address', { exact: true }).fill('not an address')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.el-form-item__error').first().waitFor()
    await page.getByLabel('Address', { exact: true }).fill(`${server.url}/api/v1/no-such-hook`)
    await page.getByLabel('Secret', { exact: true }).fill('a-key-of-some-length-31')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'billing hook' }).click()
    await page.getByText('A value is stored').waitFor()
    expect(await page.getByLabel('Secret', { exact: true }).inputValue()).toBe('')
    await page.getByRole('button', { name: 'Send a test message' }).click()
    await page.getByText('http_404').waitFor()

    // A key may be taken away, and two may count while one is exchanged.
    await page.getByRole('button', { name: 'Remove it' }).click()
    await page.getByText('It is removed when you save').waitFor()
    await page.getByLabel('Secrets while one is exchanged').fill('an-old-key-of-31-chars\na-new-key-of-31-chars')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'billing hook' }).click()
    await page.getByText('A value is stored').waitFor()
    const [hook] = (await server.api<{ items: { secrets: string[] }[] }>('GET', '/api/v1/alert-channels')).items
    expect(hook?.secrets).toEqual(['secrets'])
    await page.context().close()
  })

  it('say where an expression is wrong, and try a rule on the past', async () => {
    await server.api('POST', '/api/v1/alert-rules', { name: 'locked', type: 'EXPRESSION', level: 'WARNING', expression: 'status == "FAILED"' })
    const page = await browser.signedIn('/alerts/rules')
    await page.getByRole('link', { name: 'locked' }).click()
    await page.getByLabel('Expression', { exact: true }).fill('status == "FAILED" && nothing > 1')
    await page.getByRole('button', { name: 'Check it' }).click()
    await page.locator('.el-form-item__error').filter({ hasText: /1:|column|line/ }).waitFor()
    await page.getByLabel('Expression', { exact: true }).fill('status == "FAILED" && attempt > 1')
    await page.getByRole('button', { name: 'Check it' }).click()
    await page.getByText('It can be saved').waitFor()
    await page.getByRole('button', { name: 'Try it on the past' }).click()
    await page.getByText('It would have raised no alert').waitFor()
    await page.context().close()
  })

  it('silence until a moment, in the zone that is shown', async () => {
    await server.api('POST', '/api/v1/groups', { name: 'night' })
    const page = await browser.signedIn('/alerts/silences/new?from=rule%3Dnight%26group%3Dnight')
    expect(await page.getByLabel('Labels that match', { exact: true }).inputValue()).toBe('rule=night\ngroup=night')
    await page.getByLabel('Name', { exact: true }).fill('the night')
    await page.getByText('Europe/Berlin').first().waitFor()
    const day = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10)
    await page.getByLabel('Until', { exact: true }).fill(`${day}T08:00`)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'the night' }).waitFor()
    const { items } = await server.api<{ items: { to: string }[] }>('GET', '/api/v1/alert-silences')
    expect(items[0]).toMatchObject({ group: 'night', match: { rule: 'night', group: 'night' } })
    // Berlin is an hour before UTC, or two.
    expect(items[0]?.to).toMatch(new RegExp(`^${day}T0[67]:00:00`))
    await page.context().close()
  })

  it('choose jobs and groups by their names', async () => {
    const made = await server.api<{ id: string }>('POST', '/api/v1/jobs', {
      name: 'nightly books', group: 'night', jobType: 'CUSTOM', jobClass: 'noop', schedule: { kind: 'NONE' },
    })
    const page = await browser.signedIn('/alerts/rules/new')
    await page.getByLabel('Name', { exact: true }).fill('books')
    await page.getByRole('combobox', { name: 'Only jobs' }).fill('books')
    await page.getByRole('option', { name: 'night / nightly books' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'books', exact: true }).click()
    await page.getByText('night / nightly books').first().waitFor()
    const { items } = await server.api<{ items: { name: string; scope: unknown }[] }>('GET', '/api/v1/alert-rules')
    expect(items.find((r) => r.name === 'books')?.scope).toMatchObject({ jobIds: [made.id] })
    await page.context().close()
  })

  const views: View[] = [{ language: 'en', theme: 'light' }, { language: 'zh-CN', theme: 'dark' }]
  it.each(views)('can be read by everybody: $language, $theme', async (view) => {
    const page = await browser.signedIn('/alerts/rules', view)
    for (const kind of kinds) {
      for (const address of [`/alerts/${kind}`, `/alerts/${kind}/new`]) {
        await page.goto(address)
        await page.locator('main .card, main table, main .empty').first().waitFor()
        expect(await findings(page), address).toEqual([])
        await shot(page, `${address.slice(1).replaceAll('/', '-')}-${view.language}-${view.theme}`)
      }
    }
    await page.context().close()
  })

  it('make nobody complain', () => expect(browser.complaints).toEqual([]))
})
