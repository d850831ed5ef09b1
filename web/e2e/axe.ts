import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Finding {
  id: string
  impact: string | null
  nodes: { target: unknown[]; failureSummary?: string }[]
}

/** The serious and critical findings of axe on a page as it is, in words; none is the aim. */
export async function findings(page: Page): Promise<string[]> {
  // The policy of the page refuses scripts of others; the debugger may still run one.
  await page.evaluate(source)
  const found = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: Finding[] }> } }
    return (await axe.run()).violations
  })
  return found
    .filter((f) => f.impact === 'serious' || f.impact === 'critical')
    .flatMap((f) => f.nodes.map((n) => `${f.id} (${f.impact}): ${String(n.target)} ${n.failureSummary ?? ''}`))
}
