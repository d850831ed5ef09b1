import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findings } from './axe'
import { Console, Server, shot } from './harness'

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

describe('a document of many jobs and alert settings', () => {
  it('is imported in parts, and exported again', async () => {
    const page = await browser.signedIn('/jobs')
    await page.getByRole('button', { name: 'Import' }).click()
    const dialog = page.getByRole('dialog', { name: 'Import' })
    const jobs = Array.from({ length: 450 }, (_, n) => `  # number ${n}\n  - {name: part ${n}, group: parts, jobType: CUSTOM, jobClass: noop, enabled: false}\n`).join('')
    const rule = '{name: watches, group: parts, type: JOB_FAILED, level: WARNING, scope: {jobs: [parts/part 449]}}'
    await dialog.locator('input[type=file]').setInputFiles({
      name: 'all.yaml', mimeType: 'application/yaml',
      buffer: Buffer.from(`version: 1\ngroups:\n- {name: parts, maxConcurrency: 3}\nalerting:\n  rules:\n  - ${rule}\njobs:\n${jobs}`),
    })
    await dialog.getByRole('button', { name: 'Dry run' }).click()
    await dialog.getByText('parts / Rule watches').waitFor()
    const sent: string[] = []
    let go = () => {}
    await page.route('**/api/v1/import**', async (route) => {
      sent.push(route.request().postData() ?? '')
      if (sent.length === 2) await new Promise<void>((done) => (go = done))
      await route.fallback()
    })
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await dialog.getByText('200 of 450 jobs').waitFor()
    expect(await dialog.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('44')
    expect(await findings(page)).toEqual([])
    await shot(page, 'jobs-import-parts')
    go()
    await dialog.waitFor({ state: 'hidden' })
    expect(sent.map((text) => [text.match(/name: part \d/g)?.length, text.includes('maxConcurrency'), text.includes('watches')])).toEqual(
      [[200, true, false], [200, false, false], [50, false, true]])

    await page.goto('/jobs?group=parts')
    await page.getByRole('button', { name: 'Export' }).click()
    const saved = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Jobs and alert settings' }).waitFor()
    expect(await findings(page)).toEqual([])
    await shot(page, 'jobs-export')
    await page.getByRole('menuitem', { name: 'Jobs and alert settings' }).click()
    expect((await saved).suggestedFilename()).toBe('jobs-and-alert-settings-parts.yaml')
    const text = await readFile(await (await saved).path(), 'utf8')
    expect(text.match(/^- name: "?part \d/gm)).toHaveLength(450)
    expect(text).toContain('watches')
    await page.context().close()
  })
})

it('makes nobody complain', () => expect(browser.complaints).toEqual([]))
