import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot, waitFor, type View } from './harness'
import { words } from './words'

let server: Server
let browser: Console
const ids: Record<string, string> = {}

async function make(name: string, more: Record<string, unknown>): Promise<void> {
  const job = await server.api<{ id: string }>('POST', '/api/v1/jobs', { name, jobType: 'CUSTOM', jobClass: 'noop', ...more })
  ids[name] = job.id
}

beforeAll(async () => {
  server = await Server.start()
  await make('ticks', { schedule: { kind: 'FIXED_RATE', intervalMs: 2_000 }, labels: { team: 'billing' } })
  await make('by hand', {
    parameters: [
      { name: 'day', type: 'DATE', required: true, description: 'which day' }, { name: 'mode', type: 'ENUM', values: ['fast', 'slow'] },
      { name: 'count', type: 'INTEGER', default: 3 },
    ],
  })
  await make('<b>hostile</b>', { schedule: { kind: 'CRON', cronExpression: '0 0 3 * * ?', timeZone: 'Asia/Shanghai' } })
  browser = await Console.start(server)
  await waitFor(async () => {
    const { items } = await server.api<{ items: { outcome: string }[] }>('GET', `/api/v1/jobs/${ids['ticks']}/fires`)
    return items.filter((f) => f.outcome === 'SUCCESS').length >= 2
  }, 30_000)
})
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

const status = async (name: string) => (await server.api<{ status: string }>('GET', `/api/v1/jobs/${ids[name]}`)).status

describe('jobs', () => {
  it('are found by filters that stand in the address', async () => {
    const page = await browser.signedIn('/jobs')
    await page.getByRole('link', { name: 'ticks' }).waitFor()
    await page.getByText('Asia/Shanghai').first().waitFor()
    await page.getByPlaceholder('Part of the name').fill('hostile')
    await page.getByRole('link', { name: 'ticks' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: '<b>hostile</b>' }).waitFor()
    expect(new URL(page.url()).searchParams.get('name')).toBe('hostile')
    await page.goto('/jobs?name=nobody')
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await page.getByRole('link', { name: 'ticks' }).waitFor()
    await page.context().close()
  })

  it('are paused and resumed in bulk, with a result for each', async () => {
    const page = await browser.signedIn('/jobs')
    await page.getByRole('checkbox', { name: 'Select <b>hostile</b>' }).click()
    await page.getByRole('checkbox', { name: 'Select by hand' }).click()
    await page.getByRole('button', { name: 'Pause' }).click()
    const dialog = page.getByRole('dialog', { name: 'Pause 2 jobs?' })
    await dialog.getByLabel('Reason').fill('the target moves')
    await dialog.getByRole('button', { name: 'Pause' }).click()
    const result = page.getByRole('dialog', { name: 'What was done' })
    await result.getByRole('link', { name: '<b>hostile</b>' }).waitFor()
    expect(await status('<b>hostile</b>')).toBe('PAUSED')
    await result.getByRole('button', { name: 'Close', exact: true }).last().click()
    await server.api('POST', '/api/v1/bulk/jobs/resume', { ids: [ids['<b>hostile</b>'], ids['by hand']] })
    await page.context().close()
  })

  it('get labels and a priority in bulk, with a result for each', async () => {
    const page = await browser.signedIn('/jobs')
    const choose = async (button: string) => {
      await page.getByRole('checkbox', { name: 'Select <b>hostile</b>' }).check()
      await page.getByRole('checkbox', { name: 'Select ticks' }).check()
      await page.getByRole('button', { name: button, exact: true }).click()
    }
    await choose('Labels')
    const labels = page.getByRole('dialog', { name: 'Change the labels of 2 jobs?' })
    await labels.getByLabel('Set').fill('tier')
    await labels.getByRole('button', { name: 'Apply' }).click()
    await labels.getByText('Each line is name=value.').waitFor()
    await labels.getByLabel('Set').fill('tier=gold')
    await labels.getByLabel('Remove').fill('team')
    // Somebody else deletes one of them meanwhile, and the server says so for that one alone.
    await page.route(`**/api/v1/jobs/${ids['<b>hostile</b>']}`, (route) => route.fulfill({
      status: 404, contentType: 'application/problem+json', body: JSON.stringify({ status: 404, code: 'not_found', title: 'Not found', detail: 'there is no such job' }),
    }), { times: 1 })
    await labels.getByRole('button', { name: 'Apply' }).click()
    const result = page.getByRole('dialog', { name: 'What was done' })
    await result.getByRole('listitem').filter({ hasText: '<b>hostile</b>' }).getByText('there is no such job').waitFor()
    await result.getByRole('listitem').filter({ hasText: 'ticks' }).getByText('Done').waitFor()
    await result.getByRole('button', { name: 'Close', exact: true }).last().click()
    expect(await server.api('GET', `/api/v1/jobs/${ids['ticks']}`)).toMatchObject({ labels: { tier: 'gold' } })
    // Objects without a change stay selected.
    await page.getByText('one selected').waitFor()
    await choose('Priority')
    const priority = page.getByRole('dialog', { name: 'Change the priority of 2 jobs?' })
    await priority.getByRole('spinbutton').fill('9')
    await priority.getByRole('button', { name: 'Apply' }).click()
    await result.getByText('2 done, 0 not').waitFor()
    expect(await server.api('GET', `/api/v1/jobs/${ids['<b>hostile</b>']}`)).toMatchObject({ priority: 9 })
    await page.context().close()
  })

  it('are exported as they are selected, by viewers, too', async () => {
    const password = await server.user('eve', 'viewer')
    const page = await browser.signedIn('/jobs', {}, { username: 'eve', password })
    await page.getByRole('checkbox', { name: 'Select <b>hostile</b>' }).check()
    await page.getByRole('checkbox', { name: 'Select ticks' }).check()
    const saved = page.waitForEvent('download')
    await page.getByRole('status').getByRole('button', { name: 'Export' }).click()
    const text = await readFile(await (await saved).path(), 'utf8')
    expect([...text.matchAll(/^- name: (.*)$/gm)].map((m) => m[1])).toEqual(['"<b>hostile</b>"', 'ticks'])
    const sent = await fetch(`${server.url}/api/v1/import?dryRun=true`, {
      method: 'POST', body: text,
      headers: { Authorization: `Bearer ${await server.token('admin', await server.password())}`, 'Content-Type': 'application/yaml' },
    })
    expect(await sent.json()).toMatchObject({ created: 0, updated: 0, unchanged: 2, failed: 0 })
    await page.context().close()
  })

  it('are imported after a dry run', async () => {
    const page = await browser.signedIn('/jobs')
    await page.getByRole('button', { name: 'Import' }).click()
    const dialog = page.getByRole('dialog', { name: 'Import' })
    await dialog.locator('input[type=file]').setInputFiles({
      name: 'jobs.yaml', mimeType: 'application/yaml',
      buffer: Buffer.from('version: 1\njobs:\n  - name: from a file\n    group: default\n    jobType: CUSTOM\n    jobClass: noop\n'),
    })
    await dialog.getByRole('button', { name: 'Dry run' }).click()
    await dialog.getByText('from a file').last().waitFor()
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('link', { name: 'from a file' }).waitFor()
    await page.context().close()
  })

  it('are only read by viewers', async () => {
    const password = await server.user('vera', 'viewer')
    const page = await browser.signedIn('/jobs', {}, { username: 'vera', password })
    await page.getByRole('link', { name: 'ticks' }).click()
    await page.getByRole('heading', { name: 'Why?' }).waitFor()
    for (const name of ['Trigger', 'Pause', 'Edit', 'Delete']) expect(await page.getByRole('button', { name }).count()).toBe(0)
    await page.context().close()
  })
})

describe('a job', () => {
  it('tells why of a fire, by keys and by address', async () => {
    const page = await browser.signedIn(`/jobs/${ids['ticks']}`)
    await page.getByRole('group', { name: 'Fires' }).getByRole('button', { name: /On time|Late/ }).first().focus()
    await page.keyboard.press('Enter')
    await page.getByText(/The fire of .* and succeeded\./).waitFor()
    expect(new URL(page.url()).searchParams.get('at')).toBeTruthy()
    await page.goto(`/jobs/${ids['by hand']}?at=2026-01-01T00:00:00Z`)
    await page.getByText(/The job has no schedule|the job was made at/).waitFor()
    await page.context().close()
  })

  it('is triggered with the parameters that it declares', async () => {
    const page = await browser.signedIn(`/jobs/${ids['by hand']}`)
    await page.getByRole('button', { name: 'Trigger' }).click()
    const dialog = page.getByRole('dialog', { name: 'Trigger by hand?' })
    await dialog.getByRole('button', { name: 'Trigger' }).click()
    await dialog.getByRole('alert').first().waitFor()
    await dialog.locator('input[type=date]').fill('2026-11-20')
    await dialog.getByRole('button', { name: 'Trigger' }).click()
    // It leads to the run.
    await page.waitForURL(/\/executions\/./)
    await page.getByText('Succeeded').first().waitFor()
    // A job without a schedule opens on its runs, and its head tells of the latest.
    await page.getByRole('link', { name: 'by hand' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'by hand' }).waitFor()
    await page.getByRole('row').filter({ hasText: 'Succeeded' }).waitFor()
    await page.getByRole('term').filter({ hasText: 'Last run' }).waitFor()
    await page.context().close()
  })

  it.each([['en', 'light'], ['zh-CN', 'dark']] as const)('shows a run by hand beside its schedule: %s, %s', async (language, theme) => {
    const w = words(language)
    const name = `nightly ${language}`
    await make(name, { schedule: { kind: 'CRON', cronExpression: '0 0 3 1 1 ?', timeZone: 'Europe/Berlin' } })
    const page = await browser.signedIn(`/jobs/${ids[name]}`, { language, theme })
    await page.getByText(w('jobs.ledger.empty')).waitFor()
    await page.getByRole('button', { name: w('jobs.trigger'), exact: true }).click()
    await page.getByRole('dialog', { name: w('jobs.triggerOne', { name }) }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/executions\/./)
    const run = page.url().split('/').at(-1)
    await page.goBack()
    // The strip, the head and the answer tell of it; none of them denies it.
    await page.locator('.round').waitFor()
    expect(await page.locator('.round').getAttribute('href')).toBe(`/executions/${run}`)
    await page.getByText(w('jobs.ledger.byHand'), { exact: true }).waitFor()
    await page.locator('.facts a', { hasText: w('shared.status.SUCCESS') }).waitFor()
    const said = page.locator('.answer .sentence')
    await said.getByText(w('jobs.triggers.MANUAL')).or(said.getByText(w('jobs.triggers.API'))).waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `jobs-by-hand-${language}-${theme}`)
    await page.locator('.round').focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/executions/${run}`)
    await page.context().close()
  })

  it('is deleted by who types its name', async () => {
    await make('goes', {})
    const page = await browser.signedIn(`/jobs/${ids['goes']}`)
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete goes?' })
    const sure = dialog.getByRole('button', { name: 'Delete' })
    expect(await sure.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('goes')
    await sure.click()
    await page.waitForURL((url) => url.pathname === '/jobs')
    await page.context().close()
  })
})

describe('jobs that are deleted', () => {
  it.each([['en', 'light'], ['zh-CN', 'dark']] as const)('come back by the message: %s, %s', async (language, theme) => {
    const w = words(language)
    const name = `comes back ${language}`
    await make(name, { schedule: { kind: 'CRON', cronExpression: '0 0 3 1 1 ?' } })
    const page = await browser.signedIn(`/jobs/${ids[name]}`, { language, theme })
    await page.getByRole('button', { name: w('shared.action.delete') }).click()
    const dialog = page.getByRole('dialog', { name: w('jobs.deleteOne', { name }) })
    await dialog.getByRole('textbox').click()
    await page.keyboard.type(name)
    await dialog.getByRole('button', { name: w('shared.action.delete') }).click()
    await page.waitForURL((url) => url.pathname === '/jobs')
    const back = page.getByRole('alert').getByRole('button', { name: w('jobs.bringBack') })
    await back.waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `jobs-bring-back-${language}-${theme}`)
    await back.click()
    await page.waitForURL(`**/jobs/${ids[name]}`)
    await page.locator('h1').getByText(w('shared.status.PAUSED')).waitFor()
    await page.context().close()
  })

  it('come back by the result of many, unless their name is taken', async () => {
    for (const name of ['many 1', 'many 2']) await make(name, {})
    const page = await browser.signedIn('/jobs')
    for (const name of ['many 1', 'many 2']) await page.getByRole('checkbox', { name: `Select ${name}` }).click()
    const remove = async () => {
      await page.getByRole('status').getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('dialog', { name: /^Delete/ }).getByRole('button', { name: 'Delete' }).click()
      return page.getByRole('dialog', { name: 'What was done' }).getByRole('listitem')
    }
    const first = (await remove()).filter({ hasText: 'many 1' })
    await first.getByRole('button', { name: 'Bring it back' }).waitFor()
    await shot(page, 'jobs-bring-back-many')
    await first.getByRole('button', { name: 'Bring it back' }).click()
    await page.getByRole('heading', { level: 1, name: 'many 1' }).waitFor()
    await page.goto('/jobs')
    await page.getByRole('checkbox', { name: 'Select many 1' }).click()
    const again = (await remove()).filter({ hasText: 'many 1' })
    await make('many 1', {})
    await again.getByRole('button', { name: 'Bring it back' }).click()
    await page.getByRole('alert').filter({ hasText: 'a job with this name exists' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/jobs')
    await page.context().close()
  })
})

const views: View[] = (['en', 'zh-CN'] as const).flatMap((language) => (['light', 'dark'] as const).map((theme) => ({ language, theme })))
describe.each(views)('can be read by everybody: $language, $theme', (view) => {
  it.each(['', 'ledger', 'runs'])('%s', async (tab) => {
    const page = await browser.signedIn(tab === '' ? '/jobs' : `/jobs/${ids['ticks']}?tab=${tab}`, view)
    await page.locator('main table tbody a, main table tbody button').first().waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `jobs-${tab || 'list'}-${view.language}-${view.theme}`)
    await page.context().close()
  })
})

it('make nobody complain', () => expect(browser.complaints).toEqual([]))
