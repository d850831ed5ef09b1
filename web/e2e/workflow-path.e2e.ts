// The path of somebody whose first workflow this is: written with a mistake, mended, saved, run, held by a failure,
// repeated, approved. Texts are read by their keys, as in newcomer.e2e.ts.
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { LanguageCode } from '@/shared/text'
import { findings } from './axe'
import { Console, Server, shot, waitFor } from './harness'
import { Receiver } from './receiver'
import { words } from './words'

const languages = (process.env['PS_LANGUAGES'] ?? 'en,zh-CN').split(',') as LanguageCode[]

describe.each(languages)('the first workflow of somebody: %s', (language) => {
  const w = words(language)
  const name = 'price list'
  let server: Server
  let browser: Console
  let receiver: Receiver
  let window: BrowserContext
  let page: Page

  beforeAll(async () => {
    server = await Server.start()
    receiver = await Receiver.start()
    browser = await Console.start(server)
    page = await browser.signedIn('/jobs', { language })
    window = page.context()
  })
  beforeEach(({ onTestFailed }) => onTestFailed(() => shot(page, `workflow-path-${language}`)))
  afterAll(async () => {
    await window?.close()
    await browser?.stop()
    await server?.remove()
    await receiver?.stop()
  })

  const button = (key: string, params = {}) => page.getByRole('button', { name: w(key, params), exact: true })
  const heading = (text: string) => page.getByRole('heading', { level: 1, name: text })
  const inbox = () => page.getByRole('navigation', { name: w('app.navigation') }).getByRole('link', { name: w('workflows.approvals.title') })
  /** A step of the graph that stands there. */
  const node = (step: string, state: string) => page.locator(`g.node[data-step="${step}"]`).filter({ hasText: w(`shared.status.${state}`) })

  it('is written with a mistake, which is named, and mended', async () => {
    await button('jobs.new').click()
    await page.getByRole('textbox', { name: w('jobform.field.name'), exact: true }).fill(name)
    await page.getByRole('radio', { name: w('jobform.type.WORKFLOW') }).check()
    await page.getByRole('textbox', { name: w('jobform.workflow.label') }).click()
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.press('Delete')
    await page.keyboard.insertText([
      'onStepFailure: HOLD', 'steps:', '- name: fetch', `  http: {method: GET, url: "${receiver.url}/prices"}`, '- name: agree', '  needs: [fetc]',
      '  approval: {text: "May the prices be published?"}', '- name: publish', '  needs: [agree]', '  custom: {jobClass: noop}', '',
    ].join('\n'))
    await page.getByText(w('jobform.workflow.wrong').split(' | ')[0] ?? '').waitFor()
    await page.locator('.told').getByText('fetc').waitFor()
    // The button leads to the line, where the newcomer mends it.
    await button('jobform.workflow.go', { n: 6 }).click()
    await page.keyboard.press('Home') // behind the indent
    await page.keyboard.press('Shift+End')
    await page.keyboard.type('needs: [fetch]')
    await page.getByText(w('jobform.workflow.good')).waitFor()
    await page.locator('g.node[data-step="publish"]').waitFor()
  })

  it('is saved, and run', async () => {
    receiver.answer('/prices', 503, 'the supplier is closed')
    await button('jobform.make').click()
    await heading(name).waitFor()
    await page.getByText(w('jobs.steps.none')).waitFor()
    await button('jobs.trigger').click()
    const dialog = page.getByRole('dialog', { name: w('jobs.triggerOne', { name }) })
    await dialog.getByRole('button', { name: w('jobs.trigger'), exact: true }).click()
    await dialog.waitFor({ state: 'hidden' })
    // The run follows, whose steps are chosen in the graph.
    await page.waitForURL(/\/workflow-runs\/./)
    await node('fetch', 'HELD').click()
    await page.waitForURL(/step=fetch/)
  })

  it('is held by a failure, and goes on when the step is repeated', async () => {
    const panel = page.getByRole('region', { name: w('workflows.stepOf', { step: 'fetch' }) })
    await panel.getByText(w('workflows.heldUntil'), { exact: true }).waitFor()
    expect(receiver.to('/prices')).toHaveLength(1)
    expect(await inbox().textContent()).toBe(w('workflows.approvals.title'))
    receiver.answer('/prices', 200, '4096 prices')
    await panel.getByRole('button', { name: w('workflows.stepVerb.repeat.name'), exact: true }).click()
    const dialog = page.getByRole('dialog', { name: w('workflows.stepVerb.repeat.title', { step: 'fetch' }) })
    await dialog.getByRole('button', { name: w('workflows.stepVerb.repeat.name'), exact: true }).click()
    await node('fetch', 'SUCCESS').waitFor()
    expect(receiver.to('/prices')).toHaveLength(2)
  })

  it('asks for a vote, which the rail counts', async () => {
    await inbox().getByText('1', { exact: true }).waitFor()
    await shot(page, `workflow-path-asked-${language}`)
    expect(await findings(page)).toEqual([])
    await inbox().click()
    await page.getByText('May the prices be published?').waitFor()
    await button('workflows.approvals.APPROVE.of', { step: 'agree', workflow: name }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').pressSequentially('compared with last week')
    await dialog.getByRole('button', { name: w('workflows.approvals.APPROVE.name'), exact: true }).click()
    await page.getByText(w('workflows.approvals.empty')).waitFor()
    await waitFor(async () => (await inbox().textContent()) === w('workflows.approvals.title'), 15_000, () => 'the number stays')
  })

  it('succeeds in the grid and in the graph', async () => {
    await page.goto('/jobs')
    await page.getByRole('link', { name, exact: true }).first().click()
    await heading(name).waitFor()
    const cells = page.locator('td.cell a')
    await waitFor(async () => {
      const labels = await cells.evaluateAll((all) => all.map((a) => a.getAttribute('aria-label') ?? ''))
      return labels.length === 3 && labels.every((label) => label.endsWith(w('shared.status.SUCCESS')))
    }, 30_000, () => 'the grid does not show three successes')
    for (const step of ['fetch', 'agree', 'publish']) await node(step, 'SUCCESS').waitFor()
    await cells.last().click()
    await page.waitForURL(/\/workflow-runs\/.*step=publish/)
    for (const step of ['fetch', 'agree', 'publish']) await node(step, 'SUCCESS').waitFor()
    await page.getByText(w('shared.status.CLOSED'), { exact: true }).waitFor()
    await shot(page, `workflow-path-done-${language}`)
    expect(browser.complaints).toEqual([])
  })

  it('counts only what waits for the reader', async () => {
    const ask = { jobType: 'WORKFLOW', jobData: { steps: [{ name: 'agree', approval: { text: 'Go?', need: 2 } }] } }
    const { id: job } = await server.api<{ id: string }>('POST', '/api/v1/jobs', { name: 'asks two people', ...ask })
    await server.user('olga', 'operator')
    const viewer = await browser.signedIn('/jobs', { language }, { username: 'vera', password: await server.user('vera', 'viewer') })
    const theirs = viewer.getByRole('navigation', { name: w('app.navigation') }).getByRole('link', { name: w('workflows.approvals.title') })
    await page.goto('/jobs')
    for (let n = 1; n <= 2; n++) {
      await server.api('POST', `/api/v1/jobs/${job}/trigger`, {})
      // Nobody loads the page anew: the feed tells of it.
      await inbox().getByText(String(n), { exact: true }).waitFor()
    }
    const { items } = await server.api<{ items: { executionId: string }[] }>('GET', '/api/v1/approvals?status=OPEN')
    await server.api('POST', `/api/v1/approvals/${items[0]?.executionId ?? ''}`, { decision: 'APPROVE' })
    await inbox().getByText('1', { exact: true }).waitFor()
    expect(await theirs.textContent(), 'a viewer has no vote here').toBe(w('workflows.approvals.title'))
    await viewer.context().close()
  })
})
