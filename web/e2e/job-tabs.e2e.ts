import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot, waitFor, type View } from './harness'

// A name from anybody: it must stay text everywhere.
const HOSTILE = '<img src=x onerror=alert(1)> {{7*7}}'

interface Job { id: string; version: number; priority: number; description: string }

let server: Server
let browser: Console
let id = ''

const read = () => server.api<Job>('GET', `/api/v1/jobs/${id}`)
const address = (query: string) => `/jobs/${id}?${query}`

beforeAll(async () => {
  server = await Server.start()
  const job = { jobType: 'CUSTOM', jobClass: 'noop', schedule: { kind: 'FIXED_RATE', intervalMs: 1_000, timeZone: 'Asia/Shanghai' }, labels: { team: 'billing' } }
  id = (await server.api<Job>('POST', '/api/v1/jobs', { name: HOSTILE, priority: 3, ...job })).id
  for (const [version, more] of [{ priority: 4 }, { priority: 4, description: 'the second one' }].entries()) {
    await server.api('PUT', `/api/v1/jobs/${id}`, { name: HOSTILE, version: version + 1, ...job, ...more })
  }
  await server.api('POST', '/api/v1/alert-rules', { name: 'billing fails', type: 'JOB_FAILED', level: 'CRITICAL', scope: { labels: { team: 'billing' } } })
  await server.api('POST', '/api/v1/alert-rules', { name: 'nobody fails', type: 'JOB_FAILED', level: 'CRITICAL', scope: { labels: { team: 'none' } } })
  browser = await Console.start(server)
  await waitFor(async () => {
    const { total, usual } = await server.api<{ total: { runs: number }; usual: unknown }>('GET', `/api/v1/monitor/statistics?job=${id}`)
    return total.runs >= 12 && usual !== null
  }, 60_000)
}, 120_000)
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

describe('the history of a job', () => {
  it('compares any two versions, by fields and as YAML, by its address', async () => {
    const page = await browser.signedIn(address('tab=versions'))
    await page.getByRole('heading', { name: 'Version 2 to 3' }).waitFor()
    await page.getByRole('row').filter({ hasText: 'the second one' }).waitFor()
    await page.getByRole('button', { name: 'Compare version 1' }).click()
    await page.getByRole('heading', { name: 'Version 1 to 3' }).waitFor()
    await page.getByRole('row', { name: 'priority 3 4', exact: true }).waitFor()
    await page.getByText('YAML', { exact: true }).click()
    const diff = page.getByRole('region', { name: 'Version 1 to 3' })
    await diff.locator('ins', { hasText: 'description: the second one' }).waitFor()
    await diff.locator('del', { hasText: 'priority: 3' }).waitFor()
    expect(new URL(page.url()).search).toContain('as=yaml')
    await page.reload()
    await diff.locator('del', { hasText: 'priority: 3' }).waitFor()
    expect(await page.locator('img').count()).toBe(0)
    await page.context().close()
  })

  it('restores a version after a question that says what changes', async () => {
    const page = await browser.signedIn(address('tab=versions'))
    await page.getByRole('button', { name: 'Restore version 1' }).click()
    const dialog = page.getByRole('dialog', { name: `Restore version 1 of ${HOSTILE}?` })
    await dialog.getByRole('row', { name: 'description' }).filter({ hasText: 'the second one' }).waitFor()
    await dialog.getByRole('button', { name: 'Restore' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('row').filter({ hasText: 'Version 4' }).filter({ hasText: 'holds now' }).waitFor()
    expect(await read()).toMatchObject({ version: 4, priority: 3, description: '' })
    await page.context().close()
  })

  it('overwrites nobody who was faster', async () => {
    const page = await browser.signedIn(address('tab=versions'))
    await page.getByRole('button', { name: 'Restore version 2' }).click()
    const dialog = page.getByRole('dialog', { name: /^Restore version 2/ })
    await page.route('**/restore', async (route) => {
      const sent = route.request().postDataJSON() as { version: number }
      await route.continue({ postData: JSON.stringify({ version: sent.version - 1 }) })
    }, { times: 1 })
    await dialog.getByRole('button', { name: 'Restore' }).click()
    await dialog.getByRole('alert').waitFor()
    expect((await read()).version).toBe(4)
    await page.context().close()
  })
})

describe('the charts of a job', () => {
  it('have what is usual, numbers beside them, and lead to the fires', async () => {
    const page = await browser.signedIn(address('tab=charts'))
    await page.getByText(/It usually takes .* More than .* is unusual\./).waitFor()
    await page.locator('canvas').nth(2).waitFor()
    await page.getByRole('button', { name: 'Show as a table' }).first().click()
    const numbers = page.getByRole('region', { name: 'Duration' })
    await numbers.getByRole('columnheader', { name: 'Usual range' }).waitFor()
    expect(await numbers.getByRole('columnheader').first().textContent()).toContain('Asia/Shanghai')
    await page.getByText('Days of a month').click()
    await waitFor(() => new URL(page.url()).searchParams.get('by') === 'DAY')
    await page.getByText('The usual range is that of now.').waitFor()
    await page.context().close()
  })
})

describe('a backfill', () => {
  const wall = (ms: number) => new Date(ms + 8 * 3_600_000).toISOString().slice(0, 19)

  it('says first what would run, then runs that, and can be cancelled', async () => {
    const to = Date.now() - 60_000
    const page = await browser.signedIn(address(`tab=backfill&from=${wall(to - 1_800_000)}&to=${wall(to)}`))
    await page.getByLabel('From (Asia/Shanghai)').waitFor()
    await page.getByRole('button', { name: 'Dry run' }).click()
    await page.getByRole('heading', { name: '1800 times would run' }).waitFor()
    await page.getByRole('list', { name: 'Times by the clock of Asia/Shanghai' }).getByText('UTC+8').first().waitFor()
    expect((await server.api<{ items: unknown[] }>('GET', `/api/v1/jobs/${id}/backfills`)).items).toEqual([])
    await page.getByRole('button', { name: /^Start these/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click()
    const row = page.getByRole('row').filter({ hasText: 'Active' })
    await row.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the backfill' }).click()
    await page.getByRole('row').filter({ hasText: 'Cancelled' }).waitFor()
    await page.context().close()
  })

  it('names the times that are left out', async () => {
    const ran = await server.api<{ items: { outcome: string; scheduledTime: string }[] }>('GET', `/api/v1/jobs/${id}/fires`)
    const at = Date.parse(ran.items.find((f) => f.outcome === 'SUCCESS')?.scheduledTime ?? '')
    const page = await browser.signedIn(address(`tab=backfill&from=${wall(at - 1_000)}&to=${wall(at + 1_000)}`))
    await page.getByRole('button', { name: 'Dry run' }).click()
    await page.getByText('has run').first().waitFor()
    await page.context().close()
  })

  it('is refused at the field that is wrong', async () => {
    const page = await browser.signedIn(address(`tab=backfill&from=${wall(Date.now() - 60_000)}&to=${wall(Date.now() + 3_600_000)}`))
    await page.getByRole('button', { name: 'Dry run' }).click()
    await page.getByText(/must not be later than now/).waitFor()
    await page.context().close()
  })
})

describe('the alerts of a job', () => {
  it('come with the rules that see it, and are silenced for it alone', async () => {
    const page = await browser.signedIn(address('tab=alerts'))
    await page.getByRole('link', { name: 'billing fails' }).waitFor()
    expect(await page.getByRole('link', { name: 'nobody fails' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Silence this job' }).click()
    const dialog = page.getByRole('dialog', { name: `Silence ${HOSTILE}?` })
    await dialog.getByRole('button', { name: '4 hours' }).click()
    await dialog.getByLabel('Why').fill('the ledger moves')
    await dialog.getByRole('button', { name: 'Silence', exact: true }).click()
    await page.getByText(/Silenced until/).waitFor()
    const { items } = await server.api<{ items: { match: unknown; group: string }[] }>('GET', '/api/v1/alert-silences')
    expect(items).toMatchObject([{ match: { job: HOSTILE, group: 'default' }, group: 'default', comment: 'the ledger moves' }])
    await page.getByRole('button', { name: 'End it now' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End it now' }).click()
    await page.getByText(/Silenced until/).waitFor({ state: 'detached' })
    await page.context().close()
  })
})

describe('the audit of a job', () => {
  it('says who did what, with the changes', async () => {
    const page = await browser.signedIn(address('tab=audit'))
    await page.getByRole('row').filter({ hasText: 'Restored' }).filter({ hasText: 'Done' }).waitFor()
    await page.getByRole('row').filter({ hasText: 'Edited' }).first().getByRole('button').click()
    await page.locator('ins', { hasText: 'the second one' }).waitFor()
    await page.context().close()
  })
})

it('viewers look, and neither restore, start, silence nor read the audit', async () => {
  const password = await server.user('vera', 'viewer')
  const page = await browser.signedIn(address('tab=versions'), {}, { username: 'vera', password })
  await page.getByRole('button', { name: 'Compare version 1' }).waitFor()
  expect(await page.getByRole('button', { name: /^Restore/ }).count()).toBe(0)
  expect(await page.getByRole('link', { name: 'Audit', exact: true }).count()).toBe(0)
  await page.getByRole('link', { name: 'Backfill', exact: true }).click()
  await page.getByText('You may look at backfills, and start none.').waitFor()
  await page.locator('main nav').getByRole('link', { name: 'Alerts', exact: true }).click()
  await page.getByRole('link', { name: 'billing fails' }).waitFor()
  expect(await page.getByRole('button', { name: 'Silence this job' }).count()).toBe(0)
  await page.context().close()
})

const views: View[] = (['en', 'zh-CN'] as const).flatMap((language) => (['light', 'dark'] as const).map((theme) => ({ language, theme })))
describe.each(views)('the tabs can be read by everybody: $language, $theme', (view) => {
  it.each(['charts', 'versions', 'versions&as=yaml', 'backfill', 'alerts', 'audit'])('%s', async (tab) => {
    const page = await browser.signedIn(address(`tab=${tab}`), view)
    await page.locator({ charts: 'canvas', 'versions&as=yaml': 'main ins' }[tab] ?? 'main table tbody td').first().waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `job-${tab.replace(/\W+/g, '-')}-${view.language}-${view.theme}`)
    await page.context().close()
  })
})

it('make nobody complain', () => expect(browser.complaints).toEqual([]))
