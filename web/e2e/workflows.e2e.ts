import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot, waitFor, type View } from './harness'

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

/** Two handlers that end at once, one that fails, and people who are asked. */
const steps = [
  { name: 'build', custom: { jobClass: 'echo', data: { text: 'built' } } },
  { name: 'approve', needs: ['build'], approval: { text: 'May it be published?', need: 1, timeoutSec: 7_200 } },
  { name: 'publish', needs: ['approve'], custom: { jobClass: 'fail' } },
  { name: 'announce', needs: [{ step: 'publish', on: ['success', 'skipped'] }], wait: { forSec: 1 } },
  { name: 'score', forEach: { items: [1, 2, 3] }, needs: ['build'], custom: { jobClass: 'echo', data: { text: 'x' } } },
  { name: 'tell', finally: true, custom: { jobClass: 'noop' } },
]

interface Run { id: string; phase: string; status: string; steps: { step: string; state: string; reason: string; held: boolean }[] }
const runOf = async (id: string) => server.api<Run>('GET', `/api/v1/workflow-runs/${id}`)
const stands = async (id: string, step: string) => (await runOf(id)).steps.find((s) => s.step === step)

describe('workflows', () => {
  it('are written in the form, with their graph, and told what is wrong', async () => {
    const page = await browser.signedIn('/jobs/new')
    await page.getByRole('textbox', { name: /^Name/ }).first().fill('written here')
    await page.getByRole('radio', { name: 'Workflow' }).check()
    await page.getByText('The server finds nothing wrong.').waitFor()
    await page.getByRole('img', { name: 'load HTTP, needs extract' }).waitFor()
    const editor = page.getByRole('textbox', { name: 'Steps (YAML)' })
    await editor.click()
    await page.keyboard.press('ControlOrMeta+End')
    await page.keyboard.insertText('- name: later\n  needs: [lod]\n  wait: {forSec: 5}\n')
    await page.getByText('one to mend').waitFor()
    await page.getByRole('button', { name: 'Go to line 12' }).waitFor()
    await shot(page, 'workflow-form')
    expect(await findings(page)).toEqual([])
    await editor.click()
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.insertText('onStepFailure: HOLD\nsteps:\n- name: later\n  wait: {forSec: 5}\n')
    await page.getByText('The server finds nothing wrong.').waitFor()
    await page.getByRole('button', { name: 'Create job' }).click()
    await page.getByRole('img', { name: /^later/ }).or(page.getByRole('button', { name: /^later/ })).first().waitFor()
    const { items } = await server.api<{ items: { id: string; jobData: unknown }[] }>('GET', '/api/v1/jobs?jobType=WORKFLOW')
    expect(items.map((job) => job.jobData)).toMatchObject([{ onStepFailure: 'HOLD', steps: [{ name: 'later', wait: { forSec: 5 } }] }])
    await page.context().close()
  })

  it('run, wait for a vote, are held, and go on by hand', async () => {
    const { id: job } = await server.api<{ id: string }>('POST', '/api/v1/jobs', {
      name: 'release', jobType: 'WORKFLOW', jobData: { onStepFailure: 'HOLD', steps },
    })
    const { executionIds: [run = ''] } = await server.api<{ executionIds: string[] }>('POST', `/api/v1/jobs/${job}/trigger`, {})
    await waitFor(async () => (await stands(run, 'approve').catch(() => undefined))?.state === 'WAITING')

    const page = await browser.signedIn('/approvals')
    await page.getByText('May it be published?').waitFor()
    await shot(page, 'workflow-approvals')
    expect(await findings(page)).toEqual([])
    await page.getByRole('button', { name: 'Approve approve of release' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').fill('looks right')
    await dialog.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Nothing waits for you').or(page.getByText('Nothing here yet')).waitFor()

    await page.goto(`${server.url}/workflow-runs/${run}`)
    await page.getByRole('button', { name: /^publish Handler · Held/ }).waitFor({ timeout: 30_000 })
    // The graph is used by keys alone.
    await page.getByRole('button', { name: /^publish/ }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Step publish' }).getByRole('button', { name: 'Skip' }).waitFor()
    await page.getByText('Held until', { exact: true }).waitFor()
    await shot(page, 'workflow-run')
    const looks: View[] = [{ theme: 'light', language: 'en' }, { theme: 'dark', language: 'zh-CN' }]
    for (const view of looks) {
      const seen = await browser.signedIn(`/workflow-runs/${run}?step=publish`, view)
      await seen.locator('g.node').first().waitFor()
      await seen.locator('.why, h3').first().waitFor()
      await shot(seen, `workflow-run-${view.theme ?? ''}`)
      expect(await findings(seen), JSON.stringify(view)).toEqual([])
      await seen.goto(`${server.url}/jobs/${job}`)
      await seen.locator('tbody a').first().waitFor()
      await shot(seen, `workflow-job-${view.theme ?? ''}`)
      expect(await findings(seen), JSON.stringify(view)).toEqual([])
      await seen.goto(`${server.url}/workflow-runs`)
      await seen.locator('tbody a').first().waitFor()
      expect(await findings(seen), JSON.stringify(view)).toEqual([])
      await seen.context().close()
    }

    await page.getByRole('region', { name: 'Step publish' }).getByRole('button', { name: 'Skip' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Skip' }).click()
    await page.getByText('Closed', { exact: true }).waitFor({ timeout: 30_000 })
    expect((await runOf(run)).steps.map((s) => [s.step, s.state])).toEqual([
      ['build', 'SUCCESS'], ['approve', 'SUCCESS'], ['publish', 'SKIPPED'], ['announce', 'SUCCESS'], ['score', 'SUCCESS'], ['tell', 'SUCCESS'],
    ])
    await page.context().close()

    // The run succeeded: its retry begins with the choice of a step, which keys make.
    for (const view of looks) {
      const seen = await browser.signedIn(`/workflow-runs/${run}`, view)
      await seen.getByRole('button', { name: /^(Retry|重试)$/ }).click()
      const plan = seen.getByRole('dialog').filter({ hasText: 'release' })
      await plan.getByRole('checkbox', { name: 'announce' }).focus()
      await seen.keyboard.press('Space')
      await plan.getByText(/2 repeated, 4 reused|重新执行 2 个，沿用 4 个/).waitFor()
      await shot(seen, `workflow-retry-${view.theme ?? ''}`)
      expect(await findings(seen), JSON.stringify(view)).toEqual([])
      await plan.getByRole('button', { name: /^(Retry|重试)$/ }).click()
      await seen.waitForURL((url) => !url.pathname.endsWith(run))
      await seen.getByText(/^(Closed|已关闭)$/).waitFor({ timeout: 30_000 })
      const again = new URL(seen.url()).pathname.split('/').at(-1) ?? ''
      await seen.getByRole('link', { name: run }).waitFor()
      expect((await runOf(again)).steps.map((s) => [s.step, s.state, s.reason])).toEqual([
        ['build', 'SUCCESS', 'REUSED'], ['approve', 'SUCCESS', 'REUSED'], ['publish', 'SKIPPED', 'OPERATOR'], ['announce', 'SUCCESS', ''],
        ['score', 'SUCCESS', 'REUSED'], ['tell', 'SUCCESS', ''],
      ])
      await shot(seen, `workflow-retried-${view.theme ?? ''}`)
      expect(await findings(seen), JSON.stringify(view)).toEqual([])
      await seen.context().close()
    }
  })

  it('are cancelled after a question, and offer nothing to a viewer', async () => {
    const { id: job } = await server.api<{ id: string }>('POST', '/api/v1/jobs', {
      name: 'slow', jobType: 'WORKFLOW', jobData: { steps: [{ name: 'rest', wait: { forSec: 3_600 } }] },
    })
    const { executionIds: [run = ''] } = await server.api<{ executionIds: string[] }>('POST', `/api/v1/jobs/${job}/trigger`, {})
    await waitFor(async () => (await runOf(run).catch(() => undefined))?.phase === 'OPEN')
    const viewer = await browser.signedIn(`/workflow-runs/${run}?step=rest`, {}, { username: 'vera', password: await server.user('vera', 'viewer') })
    await viewer.getByRole('button', { name: /^rest/ }).waitFor()
    expect(await viewer.getByRole('button', { name: 'Cancel the run' }).count()).toBe(0)
    await viewer.context().close()
    const page = await browser.signedIn(`/workflow-runs/${run}`)
    await page.getByRole('button', { name: 'Cancel the run' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click()
    await page.getByText('Closed', { exact: true }).waitFor({ timeout: 30_000 })
    expect((await runOf(run)).status).toBe('CANCELLED')
    await page.context().close()
  })
})
