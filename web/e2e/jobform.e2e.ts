import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot, type View } from './harness'

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

interface Job { id: string; name: string; version: number; jobData: Record<string, unknown>; schedule: Record<string, unknown>; timeoutSec: number; owner: string }

const named = async (name: string): Promise<Job> => {
  const { items } = await server.api<{ items: Job[] }>('GET', `/api/v1/jobs?name=${encodeURIComponent(name)}`)
  const found = items.find((job) => job.name === name)
  if (!found) throw new Error(`there is no job ${name}`)
  return server.api<Job>('GET', `/api/v1/jobs/${found.id}`)
}
const make = (name: string, more: Record<string, unknown> = {}) =>
  server.api<Job>('POST', '/api/v1/jobs', { name, jobType: 'CUSTOM', jobClass: 'echo', jobData: { text: 'x' }, ...more })
const atJob = (page: Page) => page.waitForURL(/\/jobs\/(?!new)[^/]+$/)

const words = {
  en: { name: 'Name', url: 'URL', monthly: 'workdays 09:00', make: 'Create job', command: 'Script or command', script: 'Script' },
  'zh-CN': { name: '名称', url: 'URL', monthly: '工作日 09:00', make: '创建任务', command: '脚本或命令', script: '脚本' },
} as const

describe('the form of a job', () => {
  it.each(['en', 'zh-CN'] as const)('makes an HTTP job by a cron: %s', async (language) => {
    const w = words[language]
    const page = await browser.signedIn('/jobs/new', { language })
    await page.getByRole('textbox', { name: w.name, exact: true }).fill(`ping ${language}`)
    await page.getByRole('textbox', { name: w.url }).fill(`${server.url}/healthz?day=\${scheduledTime-1d:yyyy-MM-dd}`)
    await page.getByText(/→ http.*day=\d{4}-\d\d-\d\d$/).waitFor()
    await page.getByRole('button', { name: w.monthly }).click()
    await page.getByText(language === 'en' ? 'at 09:00 from Monday to Friday (Europe/Berlin)' : '周一至周五 09:00（Europe/Berlin）').waitFor()
    await page.locator('.preview li').nth(29).waitFor()
    await page.getByRole('button', { name: w.make }).click()
    await atJob(page)
    expect(await named(`ping ${language}`)).toMatchObject({
      jobData: { method: 'GET', url: `${server.url}/healthz?day=\${scheduledTime-1d:yyyy-MM-dd}` },
      schedule: { cronExpression: '0 0 9 ? * 2-6', timeZone: 'Europe/Berlin' },
    })
    await page.context().close()
  })

  it.each(['en', 'zh-CN'] as const)('makes a script job: %s', async (language) => {
    const w = words[language]
    const page = await browser.signedIn('/jobs/new', { language })
    await page.getByRole('textbox', { name: w.name, exact: true }).fill(`script ${language}`)
    await page.locator('.choice').filter({ hasText: w.command }).click()
    await page.locator('.cm-content').click()
    await page.keyboard.type('echo one\necho "two"')
    await page.getByRole('button', { name: w.make }).click()
    await atJob(page)
    expect((await named(`script ${language}`)).jobData).toMatchObject({ interpreter: 'sh', script: 'echo one\necho "two"' })
    await page.context().close()
  })

  it('offers placeholders where they are written, in the body of a request', async () => {
    const page = await browser.signedIn('/jobs/new')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('with a body')
    await page.getByRole('textbox', { name: 'URL' }).fill(`${server.url}/healthz`)
    await page.getByRole('combobox', { name: 'Method' }).press('Enter')
    await page.getByRole('option', { name: 'POST' }).click()
    await page.locator('.cm-content').click()
    await page.keyboard.type('${jobN')
    await page.getByRole('option', { name: /jobName/ }).click()
    const body = page.locator('[data-field="jobData.body"]')
    await body.locator('summary').click()
    await body.getByText('with a body').waitFor()
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'Create job' }).click()
    await atJob(page)
    expect((await named('with a body')).jobData).toMatchObject({ body: '${jobName}' })
    await page.context().close()
  })

  it('shows all that the server refuses at its fields, at once', async () => {
    const page = await browser.signedIn('/jobs/new')
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 0 99 * * ?')
    await page.getByRole('textbox', { name: 'URL' }).fill('nowhere')
    await page.getByRole('button', { name: 'Create job' }).click()
    for (const field of ['name', 'jobData.url', 'schedule.cronExpression']) {
      await page.locator(`[data-field="${field}"] .el-form-item__error`).waitFor()
    }
    expect(await page.locator('.places .count').allTextContents()).toEqual(['one to mend', 'one to mend', 'one to mend'])
    expect(new URL(page.url()).pathname).toBe('/jobs/new')
    expect(await findings(page)).toEqual([])
    await page.context().close()
  })

  it('edits a job, and asks before changes are lost', async () => {
    const job = await make('to edit', { timeoutSec: 5 })
    const page = await browser.signedIn(`/jobs/${job.id}/edit`)
    await page.getByRole('textbox', { name: 'Owner' }).fill('ann')
    await page.getByRole('navigation', { name: /./ }).first().getByRole('link').first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('What you changed would be lost.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await atJob(page)
    expect(await named('to edit')).toMatchObject({ owner: 'ann', timeoutSec: 5, version: 2 })
    await page.context().close()
  })

  it('shows what somebody else changed meanwhile, and merges', async () => {
    const job = await make('contested', { description: 'first' })
    const page = await browser.signedIn(`/jobs/${job.id}/edit`)
    await page.getByRole('textbox', { name: 'Owner' }).fill('ann')
    await server.api('PUT', `/api/v1/jobs/${job.id}`, { ...job, description: 'second', version: 1 })
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'contested was changed meanwhile' })
    await dialog.getByRole('row', { name: /description first second/ }).waitFor()
    expect(await findings(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Keep my changes on theirs' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await atJob(page)
    expect(await named('contested')).toMatchObject({ owner: 'ann', description: 'second', version: 3 })
    await page.context().close()
  })

  it('copies a job that does not fire yet', async () => {
    const job = await make('the first', { schedule: { kind: 'FIXED_RATE', intervalMs: 3_600_000 } })
    const page = await browser.signedIn(`/jobs/new?from=${job.id}`)
    await page.getByRole('button', { name: 'Create job' }).click()
    await atJob(page)
    expect(await named('the first (copy)')).toMatchObject({ status: 'CREATED', schedule: { intervalMs: 3_600_000 } })
    await page.context().close()
  })

  it('shows the job as YAML, has the server check it, and applies it', async () => {
    const job = await make('as yaml', { timeoutSec: 5 })
    const page = await browser.signedIn(`/jobs/${job.id}/edit?view=yaml`)
    const code = page.locator('.cm-content')
    await code.getByText('timeoutSec').waitFor()
    await code.locator('.cm-line').filter({ hasText: 'timeoutSec' }).click()
    await page.keyboard.press('End')
    await page.keyboard.type('x')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('alert').filter({ hasText: 'timeoutSec' }).waitFor()
    await code.locator('.cm-line').filter({ hasText: 'timeoutSec' }).click()
    await page.keyboard.press('End')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Backspace')
    await page.keyboard.type('9')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByRole('region', { name: 'What would change' }).getByText('timeoutSec').waitFor()
    await page.getByRole('button', { name: 'Apply' }).click()
    await atJob(page)
    expect(await named('as yaml')).toMatchObject({ timeoutSec: 9, version: 2 })
    await page.context().close()
  })

  const views: View[] = (['en', 'zh-CN'] as const).flatMap((language) => (['light', 'dark'] as const).map((theme) => ({ language, theme })))
  it.each(views)('can be read by everybody: $language, $theme', async (view) => {
    const page = await browser.signedIn('/jobs/new', view)
    await page.locator('.preview li').first().waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `job-new-${view.language}-${view.theme}`)
    await page.context().close()
  })

  it('makes nobody complain', () => expect(browser.complaints).toEqual([]))
})
