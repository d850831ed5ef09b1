import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Console, Server } from './harness'

// No line can be broken at a space: names, labels and addresses of jobs may be so.
const word = (letter: string, length: number) => letter.repeat(length)

let server: Server
let browser: Console
/** Pages with what shows that they are there. */
const pages: [address: string, shown: string][] = []

beforeAll(async () => {
  server = await Server.start()
  const group = word('g', 60)
  await server.api('POST', '/api/v1/groups', { name: group })
  const { id } = await server.api<{ id: string }>('POST', '/api/v1/jobs', {
    name: word('N', 100), group, description: word('d', 300), labels: { [word('k', 60)]: word('v', 200) },
    jobType: 'CUSTOM', jobClass: 'noop', schedule: { kind: 'NONE' },
  })
  const { executionIds } = await server.api<{ executionIds: string[] }>('POST', `/api/v1/jobs/${id}/trigger`, {})
  pages.push(
    [`/jobs/${id}`, 'main .chip'], [`/jobs/${id}?tab=versions`, 'main .chip'], [`/jobs/${id}/edit`, 'main form'],
    [`/executions/${executionIds[0]}`, 'main .card'], ['/jobs', 'main tbody tr'], ['/settings', 'main tbody tr'],
  )
  browser = await Console.start(server)
}, 60_000)
afterAll(async () => {
  await browser?.stop()
  await server?.remove()
})

describe('long words', () => {
  it.each([1280, 390])('stay within a window of %d pixels', async (width) => {
    const page = await browser.signedIn('/', { width })
    for (const [address, shown] of pages) {
      await page.goto(address)
      await page.locator(shown).first().waitFor()
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      expect(over, `pixels of ${address} outside the window`).toBeLessThanOrEqual(0)
    }
    await page.context().close()
  }, 60_000)
})
