// Jobs that start others, as somebody chains them in the console: named in the form, a mistake and a circle refused,
// run, and followed from run to run in both directions.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot, waitFor } from './harness'
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

interface Run { id: string; jobName: string; status: string; trigger: string; startedBy: string | null }

const make = async (name: string, jobClass = 'echo') =>
  (await server.api<{ id: string }>('POST', '/api/v1/jobs', { name, jobType: 'CUSTOM', jobClass, jobData: { text: 'x' } })).id
const runsOf = async (job: string) => (await server.api<{ items: Run[] }>('GET', `/api/v1/executions?jobId=${job}`)).items

describe.each([['en', 'light'], ['zh-CN', 'dark']] as const)('a chain of jobs: %s, %s', (language, theme) => {
  const w = words(language)
  const [extract, load, tell] = [`extract ${language}`, `load ${language}`, `tell ${language}`]
  const ids: Record<string, string> = {}
  let page: Page

  beforeAll(async () => {
    for (const name of [extract, load, tell]) ids[name] = await make(name)
    page = await browser.signedIn(`/jobs/${ids[extract]}/edit`, { language, theme })
  })
  afterAll(() => page?.context().close())

  const button = (key: string) => page.getByRole('button', { name: w(key), exact: true })
  const follower = (n: number) => page.locator(`[data-field="next[${n}].job"]`)
  const add = async (n: number, name: string) => {
    await button('jobform.addNext').click()
    await follower(n).getByRole('textbox').pressSequentially(name)
  }
  const heading = (text: string) => page.getByRole('heading', { level: 1, name: text })

  it('refuses a job that does not exist at its field, and takes it when it is mended', async () => {
    await add(0, `lode ${language}`)
    await add(1, tell)
    await page.locator('[data-field="next[1].on"] .el-select').click()
    await page.getByRole('option', { name: w('jobform.nextOn.FAILURE') }).click()
    await button('shared.action.save').click()
    await follower(0).getByText(`lode ${language}`).waitFor()
    await shot(page, `chain-refused-${language}`)
    expect(await findings(page)).toEqual([])
    await follower(0).getByRole('textbox').fill(load)
    await page.locator('[data-field="next[0].params"]').getByRole('textbox').fill('{"said": "${result}"}')
    await button('shared.action.save').click()
    await heading(extract).waitFor()
    await page.getByText(w('jobs.facts.starts'), { exact: true }).waitFor()
    await page.getByRole('link', { name: load }).waitFor()
    await page.getByText(w('jobs.nextOn.FAILURE'), { exact: true }).waitFor()
  })

  it('runs, and leads from each run to the next and back', async () => {
    await button('jobs.trigger').click()
    const dialog = page.getByRole('dialog', { name: w('jobs.triggerOne', { name: extract }) })
    await dialog.getByRole('button', { name: w('jobs.trigger'), exact: true }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.waitForURL(/\/executions\/./)
    const first = page.url()
    await page.getByText(w('executions.started'), { exact: true }).waitFor({ timeout: 20_000 })
    await shot(page, `chain-started-${language}`)
    expect(await findings(page)).toEqual([])
    await page.getByRole('link', { name: load }).click()
    await heading(load).waitFor()
    await page.getByText(w('executions.startedBy'), { exact: true }).waitFor()
    const id = first.split('/').at(-1) ?? ''
    await page.getByRole('link', { name: id, exact: true }).click()
    await page.waitForURL(first)
    const [begun] = await runsOf(ids[extract] ?? '')
    await waitFor(async () => (await runsOf(ids[load] ?? '')).some((run) => run.status === 'SUCCESS'))
    expect(await runsOf(ids[load] ?? '')).toMatchObject([{ trigger: 'DEPENDENCY', startedBy: begun?.id }])
    expect(await runsOf(ids[tell] ?? '')).toEqual([])
  })

  it('names what started it, and refuses a circle', async () => {
    await page.goto(`${server.url}/jobs/${ids[load]}`)
    await page.getByText(w('jobs.facts.startedBy'), { exact: true }).waitFor()
    await page.getByRole('link', { name: extract }).waitFor()
    await page.goto(`${server.url}/jobs/${ids[load]}/edit`)
    await add(0, extract)
    await button('shared.action.save').click()
    await page.locator('[data-field^="next"] .el-form-item__error').filter({ hasText: extract }).first().waitFor()
    expect((await server.api<{ next: unknown[] }>('GET', `/api/v1/jobs/${ids[load]}`)).next).toEqual([])
    expect(browser.complaints).toEqual([])
  })
})
