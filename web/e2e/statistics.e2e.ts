import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot, waitFor, type View } from './harness'

let server: Server
let browser: Console

const hostile = '<img src=x onerror=alert(1)> {{7*7}} =1+1'
const job = (name: string, more: Record<string, unknown> = {}) => ({ name, jobType: 'CUSTOM', jobClass: 'echo', jobData: { text: 'x' }, ...more })
interface Sums { total: { runs: number } }
const counted = (query: string) => server.api<Sums>('GET', `/api/v1/monitor/statistics${query}`).then((s) => s.total.runs)

beforeAll(async () => {
  server = await Server.start()
  browser = await Console.start(server)
  const made = async (body: unknown, times: number) => {
    const { id } = await server.api<{ id: string }>('POST', '/api/v1/jobs', body)
    for (let n = 0; n < times; n++) await server.api('POST', `/api/v1/jobs/${id}/trigger`, {})
    return id
  }
  await made(job('good one', { group: 'billing' }), 4)
  await made(job(hostile, { jobClass: 'fail', jobData: { message: 'no' } }), 3)
  await waitFor(async () => (await counted('')) === 7, 30_000)
})
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

describe('statistics', () => {
  it('show what runs came to, and who stands out', async () => {
    const page = await browser.signedIn('/statistics')
    const tile = (name: string) => page.locator('.tile').filter({ hasText: name }).locator('.value')
    await tile('Runs').getByText('7', { exact: true }).waitFor()
    expect(await tile('Failures').textContent()).toBe('3')
    expect(await page.locator('figure').count()).toBe(3)
    // All were started by hand: nothing could be late.
    await page.getByText('No fire of a schedule began in this range.').waitFor()
    await page.locator('canvas').first().waitFor()
    expect(await page.locator('.when').textContent()).toContain('Europe/Berlin')
    const first = page.locator('.top tbody tr').first()
    await first.getByText(hostile, { exact: true }).waitFor()

    const runs = page.locator('figure').filter({ hasText: 'Runs by outcome' })
    await runs.getByRole('button', { name: 'Show as a table' }).click()
    await runs.getByRole('columnheader', { name: 'Time (Europe/Berlin)' }).waitFor()
    expect(await runs.getByRole('cell', { name: '4', exact: true }).count()).toBe(1)
    await page.context().close()
  })

  it('keep what is chosen in the address', async () => {
    const page = await browser.signedIn('/statistics?of=group&id=billing')
    const runs = page.locator('.tile').filter({ hasText: 'Runs' }).locator('.value')
    await runs.getByText('4', { exact: true }).waitFor()
    await page.locator('.top').getByText('Most runs').click()
    await waitFor(() => new URL(page.url()).searchParams.get('top') === 'runs')
    await page.locator('label').filter({ hasText: /^Days$/ }).click()
    await waitFor(() => new URL(page.url()).searchParams.get('by') === 'DAY')
    await page.goBack()
    await waitFor(() => new URL(page.url()).searchParams.get('by') === null)
    await page.reload()
    await runs.getByText('4', { exact: true }).waitFor()

    await page.goto('/statistics?range=days')
    await page.getByText('Choose the first and the last day').waitFor()
    const today = new Date().toISOString().slice(0, 10)
    const before = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
    await page.goto(`/statistics?range=days&from=${before}&to=${today}&of=job`)
    await page.getByText('Type a part of its name.').waitFor()
    await page.getByRole('combobox', { name: 'Which job' }).fill('good')
    await page.getByRole('option', { name: /good one/ }).click()
    await runs.getByText('4', { exact: true }).waitFor()
    await page.goto('/statistics?of=group&id=nobody')
    await page.getByText('Nothing ended in this range').waitFor()
    await page.context().close()
  })

  it('are saved as CSV', async () => {
    const page = await browser.signedIn('/statistics')
    const saved = async (name: string) => {
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name, exact: true }).click()
      return readFile(await (await download).path(), 'utf8')
    }
    const lines = (await saved('Export CSV')).trim().split('\n')
    expect(lines[0]).toMatch(/^start,timeZone,runs,success,failed/)
    expect(lines.slice(1).reduce((sum, line) => sum + Number(line.split(',')[2]), 0)).toBe(7)
    const jobs = await saved('Export CSV of the jobs')
    expect(jobs).toContain(hostile)
    expect(jobs.split('\n')[0]).toBe('jobId,name,group,runs,success,failures,skipped,retries,durationMs,lateRuns')
    await page.context().close()
  })

  it('show a viewer of one group its jobs alone, and no nodes', async () => {
    const password = await server.user('guest', 'viewer', { groups: { billing: 'viewer' } })
    const page = await browser.signedIn('/statistics?of=node&id=x', {}, { username: 'guest', password })
    await page.locator('.tile').filter({ hasText: 'Runs' }).getByText('4', { exact: true }).waitFor()
    expect(await page.getByText(hostile).count()).toBe(0)
    await page.locator('.subject').click()
    await page.getByRole('option', { name: 'A group' }).waitFor()
    expect(await page.getByRole('option', { name: 'A node' }).count()).toBe(0)
    await page.context().close()
  })

  const views: View[] = (['en', 'zh-CN'] as const).flatMap((language) => (['light', 'dark'] as const).map((theme) => ({ language, theme })))
  it.each(views)('can be read by everybody: $language, $theme', async (view) => {
    const page = await browser.signedIn('/statistics', view)
    await page.locator('canvas').nth(2).waitFor()
    await page.locator('.top tbody tr a').first().waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `statistics-${view.language}-${view.theme}`)
    await page.context().close()
  })

  it('fit a phone', async () => {
    const page = await browser.signedIn('/statistics', { width: 390, height: 844 })
    await page.locator('.top tbody tr a').first().waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    await shot(page, 'statistics-phone')
    await page.context().close()
  })

  it('makes nobody complain', () => expect(browser.complaints).toEqual([]))
})
