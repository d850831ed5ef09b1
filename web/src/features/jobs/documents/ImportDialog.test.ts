import { config, flushPromises } from '@vue/test-utils'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import type { Model } from '@/shared/api/types'
import { json, mountAt, serve, type Answers } from '@/test/mount'
import ImportDialog from './ImportDialog.vue'

type Import = Model<'Import'>

const answer = (over: Partial<Import>): Response =>
  json({ dryRun: true, groups: [], items: [], created: 0, updated: 0, deleted: 0, unchanged: 0, failed: 0, ...over } satisfies Import)

// The editor needs a layout; a field does here.
beforeAll(() => {
  const CodeEditor = defineComponent({
    props: { modelValue: { type: String, required: true } }, emits: ['update:modelValue'],
    setup: (props, { emit }) => () =>
      h('textarea', { value: props.modelValue, onInput: (e: Event) => emit('update:modelValue', (e.target as HTMLTextAreaElement).value) }),
  })
  config.global.stubs = { ...config.global.stubs, CodeEditor }
})
afterAll(() => {
  delete (config.global.stubs as Record<string, unknown>)['CodeEditor']
})

/** Opens the dialog with a document. `POST /import` answers as `post` says. */
async function opened(document_: string, post: Answers[string]) {
  const calls = serve({ 'POST /api/v1/import': post })
  const { wrapper } = await mountAt(ImportDialog, '/', { props: { modelValue: true } })
  await flushPromises()
  const dialog = document.querySelector('[role=dialog]') as HTMLElement
  const field = dialog.querySelector('textarea') as HTMLTextAreaElement
  field.value = document_
  field.dispatchEvent(new Event('input'))
  await flushPromises()
  const press = async (name: string) => {
    [...dialog.querySelectorAll('button')].find((b) => b.textContent?.trim() === name)?.click()
    await flushPromises()
  }
  return { wrapper, dialog, press, calls }
}

describe('the plan of an import', () => {
  it('shows what becomes of alert settings, as of jobs', async () => {
    const { dialog, press } = await opened('version: 1\n', () => answer({
      updated: 1, failed: 1, unchanged: 1,
      items: [{
        action: 'CREATE', changes: {}, error: null, group: 'pay', id: '', name: 'settle',
        warnings: [{ field: 'alerts.onFailure', code: 'unknown_channel', message: 'no channel ops' }],
      }],
      alerting: [
        { kind: 'RULE', name: 'late', group: 'pay', id: '1', action: 'UPDATE', changes: { threshold: [1, 7] }, error: null },
        { kind: 'CHANNEL', name: 'ops', group: null, id: '', action: 'CREATE', changes: {}, error: null, warnings: [{ field: 'config.url', code: 'missing_secret', message: 'made disabled' }] },
        { kind: 'ON_CALL', name: 'week', group: null, id: '', action: 'CREATE', changes: {}, error: { code: 'timeout', message: 'send it again' } },
        { kind: 'TEAM', name: 'calm', group: null, id: '3', action: 'UNCHANGED', changes: {}, error: null },
      ],
    }))
    await press('Dry run')
    const lines = [...dialog.querySelectorAll('section li')].map((li) => li.textContent)
    expect(lines).toHaveLength(4)
    expect(lines[0]).toMatch(/^New pay \/ settle.*alerts\.onFailure: no channel ops$/)
    expect(lines[1]).toMatch(/^Changed pay \/ Rule late.*threshold17$/)
    expect(lines[2]).toMatch(/^New Channel ops.*config\.url: made disabled$/)
    expect(lines[3]).toMatch(/^New On-call plan week.*send it again$/)
  })

  it('can be applied where alert settings alone change', async () => {
    const { wrapper, press, calls } = await opened('version: 1\n', (request) => answer({
      dryRun: request.url.includes('dryRun=true'),
      alerting: [{ kind: 'RULE', name: 'late', group: null, id: '', action: 'CREATE', changes: {}, error: null }],
    }))
    await press('Dry run')
    await press('Apply')
    expect(calls.map((c) => new URL(c.url).search)).toEqual(['?dryRun=true&prune=false', '?dryRun=false&prune=false'])
    expect(wrapper.emitted('update:modelValue')).toEqual([[false]])
  })
})

describe('a document of many jobs', () => {
  const names = Array.from({ length: 450 }, (_, n) => `job ${n}`)
  const long = `version: 1\ngroups:\n- {name: pay}\njobs:\n${names.map((name) => `- name: ${name}\n`).join('')}alerting:\n  rules:\n  - type: JOB_FAILED\n`
  const jobsIn = (text: string): Import['items'] =>
    [...text.matchAll(/- name: (.*)/g)].map(([, name = '']) => ({ action: 'CREATE', changes: {}, error: null, group: 'pay', id: '1', name }))
  const texts = (calls: Request[]) => Promise.all(calls.map((call) => call.clone().text()))
  /** Answers a document by its jobs; `hold` may keep the answer back, or give another. */
  const post = (hold: (text: string, dryRun: boolean) => Promise<Response | undefined> | undefined) => async (request: Request) => {
    const text = await request.text()
    const dryRun = request.url.includes('dryRun=true')
    const items = jobsIn(text)
    return (await hold(text, dryRun)) ?? answer({ dryRun, items, created: items.length })
  }

  it('goes in parts, and says how many are done', async () => {
    const waiting: (() => void)[] = []
    const { wrapper, dialog, press, calls } = await opened(long, post((_, dryRun) => (dryRun ? undefined : new Promise((go) => waiting.push(() => go(undefined))))))
    await press('Dry run')
    await press('Apply')
    for (const done of [0, 200, 400]) {
      await vi.waitFor(() => expect(dialog.querySelector('[aria-live=polite]')?.textContent).toContain(`${done} of 450 jobs`))
      expect(dialog.querySelector('[role=progressbar]')?.getAttribute('aria-valuenow')).toBe(String(Math.floor(done / 4.5)))
      await vi.waitFor(() => expect(waiting).toHaveLength(1))
      waiting.pop()?.()
    }
    await vi.waitFor(() => expect(wrapper.emitted('update:modelValue')).toEqual([[false]]))
    const sent = await texts(calls.slice(1))
    expect(sent.map((text) => jobsIn(text).length)).toEqual([200, 200, 50])
    expect(sent.flatMap(jobsIn).map((job) => job.name)).toEqual(names)
    expect(sent.map((text) => [text.includes('groups:'), text.includes('alerting:')])).toEqual([[true, false], [false, false], [false, true]])
  })

  it('stops at a part that is refused, and says what is done', async () => {
    const { wrapper, dialog, press, calls } = await opened(long, post((text, dryRun) => (dryRun || !text.includes('job 200\n') ? undefined : Promise.resolve(json(
      { status: 422, code: 'invalid', title: 'Invalid', detail: '', errors: [{ field: 'jobs[3].schedule.at', code: 'past', message: 'is past' }] }, 422)))))
    await press('Dry run')
    await press('Apply')
    await vi.waitFor(() => expect(dialog.querySelector('[role=alert]')?.textContent).toContain('200 of 450 jobs are imported'))
    expect(dialog.querySelector('[role=alert]')?.textContent).toContain('jobs[203].schedule.at: is past')
    expect(calls).toHaveLength(3)
    expect(dialog.querySelector('h3')?.textContent).toContain('200 new')
    expect(wrapper.emitted('update:modelValue')).toBeUndefined()
  })

  it('goes on after a job that fails, and shows all answers as one', async () => {
    const { dialog, press, calls } = await opened(long, post(async (text, dryRun) => {
      if (dryRun) return undefined
      const items = jobsIn(text).map((job) => (job.name === 'job 7' ? { ...job, error: { code: 'stale_version', message: 'somebody changed it' } } : job))
      const failed = items.filter((job) => job.error).length
      const alerting: Import['alerting'] = text.includes('alerting:') ? [{ kind: 'RULE', name: 'late', group: null, id: '1', action: 'CREATE', changes: {}, error: null }] : undefined
      return answer({ dryRun, items, failed, created: items.length - failed, ...(alerting && { alerting }) })
    }))
    await press('Dry run')
    await press('Apply')
    await vi.waitFor(() => expect(dialog.querySelector('h3')?.textContent).toBe('449 new, 0 changed, 0 deleted, 0 as before, 1 wrong'))
    expect(calls).toHaveLength(4)
    expect(dialog.querySelectorAll('section li')).toHaveLength(451)
    expect(dialog.querySelector('section')?.textContent).toContain('somebody changed it')
    expect(dialog.querySelector('section li:last-child')?.textContent).toContain('Rule late')
  })

  it('sends no further part once the dialog is closed', async () => {
    let go = () => {}
    const { wrapper, press, calls } = await opened(long, post((_, dryRun) => (dryRun ? undefined : new Promise((done) => (go = () => done(undefined))))))
    await press('Dry run')
    await press('Apply')
    await vi.waitFor(() => expect(calls).toHaveLength(2))
    await wrapper.setProps({ modelValue: false })
    go()
    await vi.waitFor(() => expect(document.body.textContent).toContain('200 of 450 jobs are imported, and the rest is not.'))
    expect(calls).toHaveLength(2)
  })

  it('is one call where other jobs are deleted, which says how long it takes', async () => {
    let go = () => {}
    const { dialog, press, calls } = await opened(long, post((_, dryRun) => (dryRun ? undefined : new Promise((done) => (go = () => done(undefined))))))
    dialog.querySelector<HTMLInputElement>('input[type=checkbox]')?.click()
    await press('Dry run')
    await press('Apply')
    expect(dialog.querySelector('[role=progressbar]')).toBeNull()
    await vi.waitFor(() => expect(dialog.querySelector('[aria-live=polite]')?.textContent).toMatch(/^Under way [1-9]\S* s$/), 4_000)
    go()
    await flushPromises()
    expect(await texts(calls.slice(1))).toEqual([long])
  })
})
