import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot, waitFor, type View } from './harness'

let server: Server
let browser: Console
let token = ''

/** A worker of a few lines: it registers, polls all the time, and ends what it took when it is asked to. */
class Program {
  private stopped = false
  private done: Promise<void> = Promise.resolve()
  readonly taken: string[] = []

  private constructor(readonly id: string, private readonly epoch: number) {}

  static async start(instance: string, handlers: string[]): Promise<Program> {
    const { workerId, epoch } = await server.api<{ workerId: string; epoch: number }>('POST', '/api/v1/workers', {
      protocol: 1, group: 'shop', instance, bootId: `boot-${instance}`, slots: 8, handlers, labels: { zone: 'a' }, sdk: 'shell 1', version: 'shop 3.2', host: '10.0.0.7',
    }, token)
    const program = new Program(workerId, epoch)
    program.done = program.poll()
    return program
  }

  private async poll(): Promise<void> {
    for (let seq = 1; !this.stopped; seq++) {
      const answer = await server.api<{ runs: { executionId: string; token: number }[] }>('POST', `/api/v1/workers/${this.id}/poll`, {
        epoch: this.epoch, seq, ack: seq - 1, free: 8 - this.taken.length, running: this.taken, waitMs: 500,
      }, token)
      this.taken.push(...answer.runs.map((r) => `${r.executionId}:${r.token}`))
    }
  }

  async finish(): Promise<void> {
    const items = this.taken.splice(0).map((run) => {
      const [executionId, token] = run.split(':')
      return { executionId, token: Number(token), attempt: 1, end: { status: 'SUCCESS' } }
    })
    await server.api('POST', `/api/v1/workers/${this.id}/report`, { epoch: this.epoch, items }, token)
  }

  async stop(): Promise<void> {
    this.stopped = true
    await this.done
  }
}

beforeAll(async () => {
  server = await Server.start()
  browser = await Console.start(server)
})
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

describe('workers', () => {
  it('get a group and a token in the console, and are seen, drained and resumed there', async () => {
    await server.api('POST', '/api/v1/groups', { name: 'orders', maxConcurrency: 0 })
    const page = await browser.signedIn('/workers')
    await page.getByText('No worker has registered').waitFor()
    await page.getByRole('button', { name: 'Worker groups' }).click()
    await page.getByRole('button', { name: 'New worker group' }).click()
    let dialog = page.getByRole('dialog', { name: 'New worker group' })
    await dialog.getByRole('textbox', { name: /Name/ }).fill('shop')
    await dialog.getByRole('combobox').fill('orders')
    await page.getByRole('option', { name: 'orders' }).click()
    await page.keyboard.press('Escape')
    await dialog.getByText('Gets the secrets').click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('row').filter({ hasText: 'shop' }).getByRole('link', { name: 'shop' }).click()
    expect(await server.api('GET', '/api/v1/worker-groups/shop')).toMatchObject({ jobGroups: ['orders'], secrets: true, commands: false })

    await page.getByRole('button', { name: 'New token' }).click()
    dialog = page.getByRole('dialog', { name: 'New token of shop' })
    await dialog.getByRole('textbox', { name: /Name/ }).fill('deployed in May')
    await dialog.getByRole('button', { name: 'Create' }).click()
    token = (await page.locator('[data-test=token]').textContent()) ?? ''
    expect(token).toMatch(/^psw_[0-9a-f]{64}$/)
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('row').filter({ hasText: 'deployed in May' }).waitFor()
    expect(await page.content()).not.toContain(token)

    const program = await Program.start('shop-7c9', ['settle'])
    const job = await server.api<{ id: string }>('POST', '/api/v1/jobs', {
      name: 'settle orders', group: 'orders', jobType: 'CUSTOM', jobClass: 'settle', routing: { workers: 'shop' },
    })
    const idle = await server.api<{ id: string }>('POST', '/api/v1/jobs', {
      name: 'nobody does this', group: 'orders', jobType: 'CUSTOM', jobClass: 'unknown', routing: { workers: 'shop' },
    })
    for (const one of [job, idle]) await server.api('POST', `/api/v1/jobs/${one.id}/trigger`, {})
    await waitFor(() => program.taken.length > 0)

    await page.getByRole('link', { name: 'Show workers' }).click()
    const row = page.getByRole('row').filter({ hasText: 'shop-7c9' })
    await row.getByText('1 / 8').waitFor()
    await row.getByRole('link', { name: 'shop-7c9' }).click()
    await page.getByRole('link', { name: 'settle orders' }).waitFor()
    await page.getByRole('button', { name: 'Drain' }).click()
    await page.getByRole('dialog', { name: 'Drain shop-7c9?' }).getByRole('button', { name: 'Drain' }).click()
    await page.locator('h1').getByText('Draining').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
    await page.locator('h1').getByText('Up').waitFor()

    // A run leads to its worker, and one that waits to the workers of its group.
    await page.getByRole('link', { name: 'settle orders' }).click()
    await page.getByRole('link', { name: program.id }).click()
    await page.waitForURL(`**/workers/${program.id}`)
    await waitFor(async () => (await server.api<{ items: unknown[] }>('GET', '/api/v1/executions?waitsFor=HANDLER')).items.length === 1, 30_000)
    const waits = await server.api<{ items: { id: string }[] }>('GET', '/api/v1/executions?waitsFor=HANDLER')
    await page.goto(`/executions/${waits.items[0]?.id}`)
    await page.getByRole('link', { name: 'Workers of shop' }).click()
    await page.waitForURL('**/workers?group=shop')
    await page.goto('/')
    await page.getByText('one run waits for a worker or a handler').waitFor()

    await page.goto('/worker-groups/shop')
    await page.getByRole('button', { name: 'Delete shop' }).click()
    dialog = page.getByRole('dialog', { name: 'Delete shop?' })
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByText('orders/nobody does this').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    // The runs of the group are counted, and found from its page.
    const ended = program.taken.length
    expect(ended).toBeGreaterThan(0)
    await program.finish()
    await waitFor(async () => (await server.api<{ total: { runs: number } }>('GET', '/api/v1/monitor/statistics?workers=shop')).total.runs === ended, 30_000)
    await page.getByRole('link', { name: 'Show statistics' }).click()
    await page.waitForURL('**/statistics?of=workers&id=shop')
    await page.locator('.tile').filter({ hasText: 'Runs' }).locator('.value').getByText(String(ended), { exact: true }).waitFor()
    await page.goto('/statistics?of=workers')
    await page.getByRole('combobox', { name: 'Which worker group' }).fill('sh')
    await page.getByRole('option', { name: 'shop' }).click()
    await page.waitForURL('**/statistics?of=workers&id=shop')
    await page.context().close()
    await program.stop()
  })

  it('are only read by viewers', async () => {
    const password = await server.user('vera', 'viewer')
    const page = await browser.signedIn('/workers', {}, { username: 'vera', password })
    await page.getByRole('row').filter({ hasText: 'shop-7c9' }).waitFor()
    for (const name of [/Drain/, 'Worker groups']) expect(await page.getByRole('button', { name }).count()).toBe(0)
    await page.goto('/worker-groups')
    await page.getByRole('heading', { name: 'You may not see this page' }).waitFor({ state: 'attached' })
    await page.context().close()
  })

  const views: View[] = (['en', 'zh-CN'] as const).flatMap((language) => (['light', 'dark'] as const).map((theme) => ({ language, theme })))
  it.each([...views, { width: 380, height: 800 }])('can be read by everybody: $language, $theme, $width', async (view: View) => {
    const page = await browser.signedIn('/workers', view)
    const name = [view.language, view.theme, view.width].filter(Boolean).join('-')
    const open = async (address: string, what: string, known: string) => {
      await page.goto(address)
      await page.locator('main').getByText(known).first().waitFor()
      expect(await findings(page)).toEqual([])
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
      expect(wide).toBe(0)
      await shot(page, `${what}-${name}`)
    }
    await open('/workers', 'workers', 'shop-7c9')
    const { items } = await server.api<{ items: { id: string }[] }>('GET', '/api/v1/workers')
    await open(`/workers/${items[0]?.id}`, 'worker', 'settle')
    await open('/worker-groups', 'worker-groups', 'shop')
    await open('/worker-groups/shop', 'worker-group', 'deployed in May')
    await page.context().close()
  })

  it('make nobody complain', () => expect(browser.complaints).toEqual([]))
})
