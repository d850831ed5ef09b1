// The path of somebody who is new here, from the first password to an alert that is acknowledged, in a browser
// alone. PS_LANGUAGES=en walks it in one language. Texts are read by their keys: text.test.ts holds both languages.
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LanguageCode } from '@/shared/text'
import { Console, Server, shot, waitFor } from './harness'
import { Receiver } from './receiver'
import { words } from './words'

const languages = (process.env['PS_LANGUAGES'] ?? 'en,zh-CN').split(',') as LanguageCode[]

describe.each(languages)('a newcomer: %s', (language) => {
  const w = words(language)
  let server: Server
  let browser: Console
  let receiver: Receiver
  let window: BrowserContext
  let page: Page

  beforeAll(async () => {
    server = await Server.start({}, undefined, true)
    receiver = await Receiver.start()
    browser = await Console.start(server)
    window = await browser.window({ language })
    page = await window.newPage()
  })
  beforeEach(({ onTestFailed }) => onTestFailed(() => shot(page, `newcomer-${language}`)))
  afterAll(async () => {
    await browser?.stop()
    await server?.remove()
    await receiver?.stop()
  })

  const button = (key: string, params = {}) => page.getByRole('button', { name: w(key, params), exact: true })
  const rail = () => page.getByRole('navigation', { name: w('app.navigation') })
  const place = (key: string) => rail().getByRole('link', { name: w(key), exact: true })
  const field = (key: string) => page.getByLabel(w(key), { exact: true })
  const heading = (text: string) => page.getByRole('heading', { level: 1, name: text })
  const row = (text: string) => page.getByRole('row').filter({ hasText: text })

  async function signIn(password: string): Promise<void> {
    await field('session.username').fill('admin')
    await field('session.password').fill(password)
    await button('session.signIn').click()
    await place('jobs.title').waitFor()
  }

  async function newJob(name: string, address: string): Promise<void> {
    await place('jobs.title').click()
    await button('jobs.new').click()
    await page.getByRole('textbox', { name: w('jobform.field.name'), exact: true }).fill(name)
    await page.getByRole('textbox', { name: w('jobform.field.jobData.url') }).fill(address)
  }

  async function makeEveryTwoSeconds(name: string): Promise<void> {
    await page.getByRole('textbox', { name: w('jobform.field.schedule.cronExpression') }).fill('0/2 * * * * ?')
    await page.locator('.preview li').nth(29).waitFor()
    await button('jobform.make').click()
    await heading(name).waitFor()
  }

  /** Chooses in a list that opens. */
  async function choose(key: string, option: string): Promise<void> {
    await page.getByRole('combobox', { name: w(key) }).press('Enter')
    await page.getByRole('option', { name: option, exact: true }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('option', { name: option, exact: true }).waitFor({ state: 'hidden' })
  }

  /** The job's page, as a link of its name leads there. */
  async function toJob(name: string): Promise<void> {
    await place('jobs.title').click()
    await page.getByRole('link', { name, exact: true }).first().click()
    await heading(name).waitFor()
  }

  async function runNow(name: string): Promise<void> {
    await toJob(name)
    await button('jobs.trigger').click()
    const dialog = page.getByRole('dialog', { name: w('jobs.triggerOne', { name }) })
    await dialog.getByRole('button', { name: w('jobs.trigger'), exact: true }).click()
    await dialog.waitFor({ state: 'hidden' })
  }

  it('signs in with the first password, and changes it', async () => {
    await page.goto('/')
    await page.getByText(w('session.first')).click()
    await page.getByText('initial-admin-password').waitFor()
    const first = await server.firstPassword()
    await signIn(first)
    await page.getByText(w('session.mustChange')).waitFor()
    const next = 'a-Longer-one-5518'
    await field('session.old').fill(first)
    await field('session.next').fill(next)
    await field('session.repeat').fill(next)
    await button('session.changePassword').click()
    // The first page follows, without another sign-in.
    await heading(w('overview.title')).waitFor()
    expect(new URL(page.url()).pathname).toBe('/overview')
    const again = await page.request.post('/api/v1/auth/login', { data: { username: 'admin', password: first } })
    expect(again.status()).toBe(401)
  })

  it('makes a job by a cron, and sees it run', async () => {
    await newJob('ask for orders', `${receiver.url}/orders?day=\${scheduledTime:yyyy-MM-dd}`)
    await page.getByText(/→ http.*day=\d{4}-\d\d-\d\d$/).waitFor()
    await makeEveryTwoSeconds('ask for orders')
    await waitFor(() => receiver.to('/orders').length >= 2, 20_000, () => 'the job did not call')
    const [call] = receiver.to('/orders')
    expect(call?.method).toBe('GET')
    expect(call?.path).toMatch(/^\/orders\?day=\d{4}-\d\d-\d\d$/)
    await place('executions.title').click()
    await row('ask for orders').filter({ hasText: w('shared.status.SUCCESS') }).first().waitFor()
    await row('ask for orders').getByRole('link').first().click()
    await heading('ask for orders').getByText(w('shared.status.SUCCESS')).waitFor()
  })

  it('finds out why another job fails, and pauses it', async () => {
    receiver.answer('/books', 503, 'the ledger is locked')
    await newJob('close the books', `${receiver.url}/books`)
    await makeEveryTwoSeconds('close the books')
    await waitFor(() => receiver.to('/books').length > 0, 20_000, () => 'the job did not call')
    await button('jobs.pause').click()
    const dialog = page.getByRole('dialog', { name: w('jobs.pauseOne', { name: 'close the books' }) })
    await dialog.getByLabel(w('jobs.pauseReason')).fill('I look at it')
    await dialog.getByRole('button', { name: w('jobs.pause'), exact: true }).click()
    await heading('close the books').getByText(w('shared.status.PAUSED')).waitFor()

    await page.getByRole('link', { name: w('jobs.tabs.ledger'), exact: true }).click()
    await row(w('jobs.ledger.kind.failed')).last().getByRole('button').first().click()
    const why = page.locator('section').filter({ has: page.getByRole('heading', { name: w('jobs.why.title') }) })
    await why.getByText(w('jobs.why.reason.HTTP_STATUS')).waitFor()
    await why.locator('.said').filter({ hasText: 'status 503' }).waitFor()
    await why.getByRole('link', { name: w('jobs.run') }).first().click()

    await heading('close the books').getByText(w('shared.status.FAILED')).waitFor()
    await page.getByRole('heading', { name: w('executions.reasons.HTTP_STATUS') }).waitFor()
    await page.locator('.log .line').filter({ hasText: '503 Service Unavailable' }).first().waitFor()
  })

  it('runs it again when the cause is gone', async () => {
    const calls = receiver.to('/books').length
    receiver.answer('/books', 200, 'closed')
    await button('executions.retry').click()
    await page.getByRole('dialog').getByRole('button', { name: w('executions.retry'), exact: true }).click()
    await heading('close the books').getByText(w('shared.status.SUCCESS')).waitFor()
    expect(receiver.to('/books').length).toBe(calls + 1)
  })

  it('is told of the next failure by a webhook', async () => {
    await place('alerts.title').click()
    const kinds = page.getByRole('navigation', { name: w('alerts.pages') })
    await kinds.getByRole('link', { name: w('alerts.kinds.channels') }).click()
    await button('shared.action.create').click()
    await field('alerts.field.name').fill('my hook')
    await field('alerts.field.url').fill(`${receiver.url}/hook`)
    await button('shared.action.save').click()
    await page.getByRole('link', { name: 'my hook' }).waitFor()

    await kinds.getByRole('link', { name: w('alerts.kinds.rules') }).click()
    await button('shared.action.create').click()
    await field('alerts.field.name').fill('a run fails')
    await choose('alerts.field.level', w('shared.status.CRITICAL'))
    await choose('alerts.field.channelIds', 'my hook')
    await button('shared.action.save').click()
    await page.getByRole('link', { name: 'a run fails' }).waitFor()

    receiver.answer('/books', 503, 'the ledger is locked')
    await runNow('close the books')
    await waitFor(() => receiver.to('/hook').length > 0, 30_000, () => 'no alert came')
    const [told] = receiver.to('/hook')
    expect(told?.method).toBe('POST')
    expect(told?.headers['content-type']).toContain('application/json')
    const alert = { jobName: 'close the books', ruleName: 'a run fails' }
    expect(JSON.parse(told?.body ?? '')).toMatchObject({ status: 'firing', alerts: [alert] })
  })

  it('acknowledges the alert, and follows it to why', async () => {
    await place('alerts.title').click()
    // The rule that every server has found the failure, too, and tells nobody.
    await row('close the books').filter({ hasText: w('shared.status.CRITICAL') }).getByRole('link').first().click()
    await page.getByText('my hook').first().waitFor()
    await button('alerts.ack').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(w('alerts.comment')).fill('I look at it')
    await dialog.getByRole('button', { name: w('alerts.ack'), exact: true }).click()
    await page.locator('h1').getByText(w('shared.status.ACKNOWLEDGED')).waitFor()
    const { items } = await (await page.request.get('/api/v1/alerts?level=CRITICAL')).json() as { items: unknown[] }
    expect(items).toMatchObject([{ jobName: 'close the books', status: 'ACKNOWLEDGED', comment: 'I look at it' }])
    await page.getByRole('link', { name: w('alerts.why') }).click()
    await page.getByRole('heading', { name: w('jobs.why.title') }).waitFor()
    await heading('close the books').waitFor()
  })

  it('makes nobody complain', () => expect(browser.complaints).toEqual([]))
})
