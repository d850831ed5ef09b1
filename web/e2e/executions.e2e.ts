import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { findings } from './axe'
import { Console, Server, shot, waitFor, type View } from './harness'

const HOSTILE = '<img src=x onerror="window.hacked=1"> \u001b[31mred\u001b[0m \u202Egnp.exe'
let server: Server
let browser: Console
let good = ''
let failed = ''

interface Run { id: string; status: string }

/** Makes a job, triggers it, and waits until its run is over. */
async function ran(name: string, jobClass: string, jobData: Record<string, unknown>, maxRetries = 0): Promise<string> {
  const job = await server.api<{ id: string }>('POST', '/api/v1/jobs', {
    name, jobType: 'CUSTOM', jobClass, jobData, schedule: { kind: 'NONE' }, retryPolicy: { maxRetries },
  })
  const { executionIds: [executionId = ''] } = await server.api<{ executionIds: string[] }>('POST', `/api/v1/jobs/${job.id}/trigger`, {})
  await waitFor(async () => {
    const { status } = await server.api<Run>('GET', `/api/v1/executions/${executionId}`)
    return status !== 'WAITING' && status !== 'RUNNING'
  }, 20_000)
  return executionId
}

beforeAll(async () => {
  server = await Server.start()
  browser = await Console.start(server)
  good = await ran(`evil ${HOSTILE.replace(/[\u001b\u202e]/g, '')}`.slice(0, 60), 'echo', { text: HOSTILE })
  failed = await ran('fails', 'fail', { message: HOSTILE })
})
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

/** Serves a log of so many lines as the stream would. */
async function withLog(page: Page, lines: string[]): Promise<void> {
  const events = lines.map((line, at) =>
    `id: ${at + 1}\nevent: line\ndata: ${JSON.stringify({ seq: at + 1, time: '2026-01-01T00:00:00Z', stream: 'STDOUT', line, attempt: 1 })}\n\n`)
  await page.route('**/logs/stream*', (route) => route.fulfill({
    contentType: 'text/event-stream', body: `${events.join('')}event: end\ndata: {"status":"SUCCESS"}\n\n`,
  }))
}

describe('executions', () => {
  it('are listed by state, and the address keeps it', async () => {
    const page = await browser.signedIn('/executions')
    await page.getByRole('row').filter({ hasText: 'fails' }).waitFor()
    await page.getByRole('button', { name: 'Succeeded' }).click()
    await page.waitForURL(/status=SUCCESS/)
    await page.getByRole('row').filter({ hasText: 'evil' }).waitFor()
    await waitFor(async () => (await page.getByRole('row').filter({ hasText: 'fails' }).count()) === 0)
    await page.reload()
    await page.getByRole('button', { name: 'Succeeded', pressed: true }).waitFor()
    await page.context().close()
  })

  it('are cancelled and retried together, with a result for each', async () => {
    const page = await browser.signedIn('/executions')
    await page.getByRole('checkbox', { name: 'Select fails' }).first().check()
    await page.getByRole('button', { name: 'Cancel run' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click()
    const result = page.getByRole('dialog', { name: 'What was done' })
    await result.getByText('0 done, 1 not').waitFor()
    await page.context().close()
  })

  it('show hostile output as text', async () => {
    const page = await browser.signedIn(`/executions/${good}?tab=output`)
    await page.getByText('onerror=').first().waitFor()
    await page.getByText('⟨202E⟩').first().waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    await page.goto(`/executions/${failed}`)
    await page.locator('.failure').getByText('⟨202E⟩').waitFor()
    await page.locator('ol .why').getByText('⟨202E⟩').waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    expect(await page.evaluate(() => (window as unknown as { hacked?: number }).hacked)).toBeUndefined()
    await page.context().close()
  })

  it('run again', async () => {
    const page = await browser.signedIn(`/executions/${failed}`)
    await page.getByRole('button', { name: 'Run again' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Run again' }).click()
    await page.waitForURL((url) => url.pathname.startsWith('/executions/') && !url.pathname.endsWith(failed))
    await page.context().close()
  })

  it('are only read by viewers', async () => {
    const password = await server.user('vera', 'viewer')
    const page = await browser.signedIn(`/executions/${failed}`, {}, { username: 'vera', password })
    await page.getByRole('heading', { name: 'What happened' }).waitFor()
    expect(await page.getByRole('button', { name: 'Run again' }).count()).toBe(0)
    await page.context().close()
  })

  it('show 100,000 lines without stutter, found and linked', async () => {
    const page = await browser.signedIn('/nodes')
    await withLog(page, Array.from({ length: 100_000 }, (_, at) => `\u001b[3${at % 8}mrow ${at + 1}\u001b[0m of a long log`))
    await page.goto(`/executions/${good}#L50000`)
    await page.getByText('row 50000 ').waitFor()
    expect(await page.locator('.log .line').count()).toBeLessThan(120)
    const rate = await page.evaluate(async () => {
      const log = document.querySelector('.log') as HTMLElement
      const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve))
      const from = await frame()
      let now = from
      let frames = 0
      while (now - from < 2_000) {
        log.scrollTop = (log.scrollTop + 700) % log.scrollHeight
        now = await frame()
        frames++
      }
      return (frames * 1_000) / (now - from)
    })
    console.log(`scrolling 100,000 lines: ${rate.toFixed(1)} frames/s`)
    expect(rate).toBeGreaterThan(20)
    await page.getByRole('textbox', { name: 'Search the log' }).fill('row 99999')
    await page.getByText('1 of 1').waitFor()
    await page.getByText('row 99999 ').waitFor()
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()])
    expect(download.suggestedFilename()).toBe(`${good}.log`)
    await page.context().close()
  })

  const views: View[] = (['en', 'zh-CN'] as const).flatMap((language) => (['light', 'dark'] as const).map((theme) => ({ language, theme })))
  it.each(views)('can be read by everybody: $language, $theme', async (view) => {
    const page = await browser.signedIn('/executions', view)
    await page.locator('tbody a').first().waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `executions-${view.language}-${view.theme}`)
    await withLog(page, ['plain', ...[31, 32, 33, 34, 35, 36, 37, 90, 41, 42, 44].map((c) => `\u001b[${c}mcolour ${c}\u001b[0m`), HOSTILE])
    await page.goto(`/executions/${failed}`)
    await page.locator('.log .line').first().waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, `execution-${view.language}-${view.theme}`)
    await page.goto(`/executions/${failed}?tab=compare`)
    await page.locator('.empty, .diff').first().waitFor()
    expect(await findings(page)).toEqual([])
    await page.context().close()
  })

  it('make nobody complain', () => expect(browser.complaints).toEqual([]))
})
