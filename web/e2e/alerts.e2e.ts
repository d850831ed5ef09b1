import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot, waitFor, type View } from './harness'

interface Alert {
  id: string
  jobName: string | null
  status: string
  comment: string | null
  deliveries: { attempt: number }[]
}

// A name from anybody: it must stay text everywhere.
const HOSTILE = '<img src=x onerror=alert(1)> 结算'

let server: Server
let browser: Console

const open = async () => (await server.api<{ items: Alert[] }>('GET', '/api/v1/alerts?status=FIRING,ACKNOWLEDGED&level=CRITICAL')).items
const alertOf = async (name: string) => {
  const found = (await open()).find((a) => a.jobName === name)
  if (!found) throw new Error(`no open alert about ${name}`)
  return found
}

/** Whether the page scrolls sideways, or its table has buttons beyond the edge. */
const wide = (page: Page) => page.evaluate(() => {
  const scrolls = document.documentElement.scrollWidth > window.innerWidth
  const table = document.querySelector('main table')?.getBoundingClientRect().right ?? 0
  return { scrolls, cut: table > window.innerWidth }
})

async function fail(name: string): Promise<void> {
  const { id } = await server.api<{ id: string }>('POST', '/api/v1/jobs', {
    name, jobType: 'CUSTOM', jobClass: 'fail', jobData: { message: 'the ledger is locked' }, labels: { team: 'billing' },
  })
  await server.api('POST', `/api/v1/jobs/${id}/trigger`, {})
}

beforeAll(async () => {
  server = await Server.start()
  browser = await Console.start(server)
  // The server itself knows no such hook: it refuses each message, and the page shows that.
  const channel = await server.api<{ id: string }>('POST', '/api/v1/alert-channels', {
    name: 'billing hook', type: 'WEBHOOK', config: { url: `${server.url}/api/v1/no-such-hook` },
  })
  await server.api('POST', '/api/v1/alert-rules', {
    name: 'a run fails', type: 'JOB_FAILED', level: 'CRITICAL', channelIds: [channel.id], actions: [{ kind: 'PAUSE_JOB' }],
    scope: { labels: { team: 'billing' } },
  })
  for (const name of ['settle orders', 'send invoices', 'close books', HOSTILE]) await fail(name)
  await waitFor(async () => {
    const about = await open()
    return about.filter((a) => a.deliveries.some((d) => d.attempt > 0)).length >= 4
  }, 60_000)
}, 120_000)
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

describe('alerts', () => {
  const views: View[] = (['en', 'zh-CN'] as const).flatMap((language) => (['light', 'dark'] as const).map((theme) => ({ language, theme })))
  it.each(views)('can be read by everybody: $language, $theme', async (view) => {
    const page = await browser.signedIn('/alerts', view)
    await page.getByRole('link', { name: 'settle orders' }).first().waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `alerts-${view.language}-${view.theme}`)
    await page.getByRole('link', { name: 'settle orders' }).first().click()
    await page.locator('section.card').nth(2).waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `alert-${view.language}-${view.theme}`)
    await page.context().close()
  })

  it('show what was sent, what failed and what to do, and names stay text', async () => {
    const { id } = await alertOf(HOSTILE)
    const page = await browser.signedIn(`/alerts/${id}`)
    await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor()
    await page.getByText('billing hook').waitFor()
    await page.getByText(/Attempt 1 of/).waitFor()
    await page.getByText('Pause the job').waitFor()
    expect(await page.getByRole('link', { name: /runbook/ }).getAttribute('href')).toMatch(/^https:.*job-failed/)
    expect(await page.getByRole('link', { name: /^Why/ }).getAttribute('href')).toMatch(/^\/jobs\/.+at=/)
    expect(await page.locator('img').count()).toBe(0)
    await page.context().close()
  })

  it('keep filters in the address', async () => {
    const page = await browser.signedIn('/alerts?level=CRITICAL&labels=team%3Dnobody')
    await page.getByText('Nothing matches these filters').waitFor()
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await page.getByRole('link', { name: 'settle orders' }).first().waitFor()
    expect(new URL(page.url()).search).toBe('')

    await page.goto('/alerts?level=CRITICAL')
    await page.getByRole('link', { name: 'settle orders' }).waitFor()
    await page.getByRole('button', { name: 'Resolved', exact: true }).click()
    await waitFor(() => new URL(page.url()).searchParams.get('state') === 'resolved')
    await page.getByRole('link', { name: 'settle orders' }).waitFor({ state: 'detached' })
    await page.goBack()
    await page.getByRole('link', { name: 'settle orders' }).waitFor()
    await page.context().close()
  })

  it('are acknowledged on a phone, with a comment', async () => {
    const { id } = await alertOf('settle orders')
    const page = await browser.signedIn(`/alerts?level=CRITICAL`, { width: 390, height: 844 })
    await page.getByRole('button', { name: /^Acknowledge settle orders/ }).waitFor()
    await shot(page, 'alerts-phone')
    const fields = page.locator('[role=search] .fields')
    expect(await fields.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Filters (some are set)' }).click()
    expect(await fields.isVisible()).toBe(true)
    await shot(page, 'alerts-phone-filters')
    expect(await wide(page)).toEqual({ scrolls: false, cut: false })
    await page.goto(`/alerts/${id}`)
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    const dialog = page.getByRole('dialog', { name: 'Acknowledge settle orders?' })
    await dialog.getByLabel('Comment').fill('the disk is full')
    await shot(page, 'alert-phone')
    expect(await findings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Acknowledge' }).click()
    await page.locator('h1').getByText('Acknowledged').waitFor()
    expect(await server.api(`GET`, `/api/v1/alerts/${id}`)).toMatchObject({ status: 'ACKNOWLEDGED', comment: 'the disk is full' })
    await page.context().close()
  })

  it('are resolved together, with a result for each', async () => {
    const books = await alertOf('close books')
    const page = await browser.signedIn('/alerts?level=CRITICAL')
    await page.getByRole('checkbox', { name: 'Select close books · Run failed' }).check()
    await page.getByRole('checkbox', { name: 'Select send invoices · Run failed' }).check()
    await page.getByRole('button', { name: 'Resolve', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Resolve 2 alerts?' })
    await dialog.waitFor()
    // Somebody else is faster, and the server says so for that one alone.
    await page.route(`**/alerts/${books.id}/resolve`, (route) => route.fulfill({
      status: 409, contentType: 'application/problem+json',
      body: JSON.stringify({ status: 409, code: 'conflict', title: 'Conflict', detail: 'the alert is over' }),
    }), { times: 1 })
    await dialog.getByRole('button', { name: 'Resolve' }).click()
    await dialog.getByText('the alert is over').waitFor()
    await dialog.getByText('Resolved').waitFor()
    await dialog.getByRole('button', { name: 'Try again' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await server.api('GET', `/api/v1/alerts/${books.id}`)).toMatchObject({ status: 'RESOLVED', resolution: 'MANUAL' })
    await page.context().close()
  })

  it('are only read by viewers', async () => {
    const password = await server.user('vera', 'viewer')
    const page = await browser.signedIn('/alerts', {}, { username: 'vera', password })
    await page.getByRole('link', { name: 'settle orders' }).first().waitFor()
    expect(await page.getByRole('button', { name: /Acknowledge / }).count()).toBe(0)
    expect(await page.locator('tbody input').count()).toBe(0)
    await page.context().close()
  })

  it('make nobody complain', () => expect(browser.complaints).toEqual([]))
})
