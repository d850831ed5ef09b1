import { config, flushPromises } from '@vue/test-utils'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Component } from 'vue'
import { setLanguage } from '@/shared/text'
import { json, mountAt, serve, signInAs, type Answers } from '@/test/mount'
import AlertsTab from './alerts/AlertsTab.vue'
import BackfillTab from './backfill/BackfillTab.vue'
import HistoryTab from './history/HistoryTab.vue'
import type { Job } from './queries'

const job = {
  id: 'j1', name: '<b>settle</b>', group: 'pay', version: 3, status: 'ENABLED', priority: 3, labels: { team: 'billing' }, deadline: null, parameters: [],
  schedule: { kind: 'CRON', timeZone: 'Asia/Shanghai' }, alerts: { onFailure: [], onSuccess: [], onEnd: [], onLate: [], onRecovered: [], lateAfterSec: 0 },
} as unknown as Job
const page = (items: unknown[], nextCursor: string | null = null) => json({ items, nextCursor })
const version = (n: number) => ({ version: n, createTime: `2026-11-2${n}T00:00:00Z`, createdBy: 'ann', definition: { ...job, version: n, priority: n }, changes: { priority: [n - 1, n] } })

async function show(tab: Component, address: string, answers: Answers) {
  const calls = serve(answers)
  const { wrapper, router } = await mountAt(tab, address, { props: { job } })
  await flushPromises()
  const button = (name: string) => [...document.querySelectorAll('button')].find((b) => (b.getAttribute('aria-label') ?? b.textContent?.trim()) === name)
  const sent = async (method: string) => Promise.all(calls.filter((c) => c.method === method).map(async (c) => [new URL(c.url).pathname.replace('/api/v1', ''), await c.text().then((t) => (t ? JSON.parse(t) as unknown : ''))]))
  const submit = async () => {
    document.querySelector('[role=dialog] form')?.dispatchEvent(new Event('submit', { cancelable: true }))
    await flushPromises()
  }
  return { wrapper, router, calls, button, sent, submit }
}

beforeAll(async () => {
  // A list of choices measures itself, which no document without a layout can answer.
  config.global.stubs = { ElSelect: true, ElOption: true }
  await setLanguage('en')
})
afterAll(() => {
  config.global.stubs = {}
})
afterEach(() => {
  document.body.innerHTML = ''
})

describe('the history', () => {
  const answers: Answers = {
    'GET /api/v1/jobs/j1/versions': (request) => (new URL(request.url).searchParams.has('cursor') ? page([version(1)]) : page([version(3), version(2)], 'next')),
    'POST /api/v1/jobs/j1/versions/2/restore': () => json({ ...job, version: 4 }),
  }

  it('finds a version that its address names, also pages away', async () => {
    await signInAs(['job:read'])
    const { wrapper, button } = await show(HistoryTab, '/jobs/j1?tab=versions&from=1&to=3', answers)
    await vi.waitFor(() => expect(wrapper.text()).toContain('Version 1 to 3'))
    expect(wrapper.findAll('del').map((d) => d.text())).toEqual(['1'])
    expect(wrapper.findAll('ins').map((d) => d.text())).toEqual(['3'])
    expect(button('Restore version 2')).toBeUndefined()
    wrapper.unmount()
  })

  it('restores against the version that was shown, after it said what changes', async () => {
    await signInAs(['job:read', 'job:write'])
    const { wrapper, button, sent, submit } = await show(HistoryTab, '/jobs/j1?tab=versions', answers)
    expect(wrapper.text()).toContain('Version 2 to 3')
    expect(button('Restore version 3')).toBeUndefined()
    button('Restore version 2')?.click()
    await flushPromises()
    expect(document.querySelector('[role=dialog]')?.textContent).toContain('Restore version 2 of <b>settle</b>?')
    expect([...document.querySelectorAll('[role=dialog] del, [role=dialog] ins')].map((d) => d.textContent)).toEqual(['3', '2'])
    expect(await sent('POST')).toEqual([])
    await submit()
    expect(await sent('POST')).toEqual([['/jobs/j1/versions/2/restore', { version: 3 }]])
    wrapper.unmount()
  })
})

describe('a backfill', () => {
  const answers: Answers = {
    'GET /api/v1/jobs/j1/backfills': () => page([]),
    'POST /api/v1/jobs/j1/backfill': async (request) => (((await request.clone().json()) as { dryRun: boolean }).dryRun
      ? json({ fireTimes: ['2026-11-20T17:00:00Z'], alreadyRunTimes: ['2026-11-20T16:00:00Z'], total: 2, alreadyRun: 1, dryRun: true })
      : json({ id: 'b1' }, 202)),
  }
  const at = '/jobs/j1?tab=backfill&from=2026-11-21T00:00&to=2026-11-21T02:00'

  it('starts what the dry run showed, once, by the clock of the job', async () => {
    await signInAs(['job:read', 'job:run'])
    const { wrapper, button, sent, submit, calls } = await show(BackfillTab, at, answers)
    expect(button('Start this one')).toBeUndefined()
    await wrapper.get('form').trigger('submit')
    await flushPromises()
    expect(wrapper.findAll('ol li').map((li) => li.text().replace(/\s+/g, ' '))).toEqual(['2026-11-21 00:00:00 UTC+8 has run', '2026-11-21 01:00:00 UTC+8'])
    button('Start this one')?.click()
    await flushPromises()
    await submit()
    const range = { from: '2026-11-20T16:00:00.000Z', to: '2026-11-20T18:00:00.000Z', maxParallel: 1 }
    expect(await sent('POST')).toEqual([['/jobs/j1/backfill', { ...range, dryRun: true }], ['/jobs/j1/backfill', { ...range, dryRun: false }]])
    expect(calls.filter((c) => c.method === 'POST').map((c) => c.headers.has('Idempotency-Key'))).toEqual([false, true])
    wrapper.unmount()
  })

  it('asks anew for another range', async () => {
    await signInAs(['job:read', 'job:run'])
    const { wrapper, button } = await show(BackfillTab, at, answers)
    await wrapper.get('form').trigger('submit')
    await flushPromises()
    expect(button('Start this one')).toBeDefined()
    await wrapper.get('input[type=datetime-local]').setValue('2026-11-20T23:00')
    await flushPromises()
    expect(button('Start this one')).toBeUndefined()
    wrapper.unmount()
  })

  it('is not offered to those who may not run the job, nor where no times are known', async () => {
    await signInAs(['job:read', 'job:run'], { pay: 'viewer' })
    const { wrapper } = await show(BackfillTab, at, answers)
    expect(wrapper.find('form').exists()).toBe(false)
    await wrapper.setProps({ job: { ...job, schedule: { ...job.schedule, kind: 'FIXED_DELAY' } } })
    expect(wrapper.text()).toContain('This schedule names no times')
    wrapper.unmount()
  })
})

describe('the alerts', () => {
  const silence = (id: string, match: Record<string, string>, more = {}) =>
    ({ id, name: '', match, group: 'pay', enabled: true, by: 'ann', comment: `silence ${id}`, from: '2020-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z', version: 1, ...more })
  const answers: Answers = {
    'GET /api/v1/alerts': () => page([]),
    'GET /api/v1/alert-rules': () => page([]),
    'GET /api/v1/alert-silences': () => page([
      silence('a', { job: job.name, group: 'pay' }), silence('b', { job: 'other' }), silence('c', { team: 'billing' }, { to: '2020-01-02T00:00:00Z' }),
      silence('d', { team: 'billing' }, { enabled: false }), silence('e', { team: 'billing' }, { group: null }),
    ]),
    'POST /api/v1/alert-silences': () => json(silence('f', {}), 201),
    'DELETE /api/v1/alert-silences/a': () => new Response(null, { status: 204 }),
  }

  it('show the silences that hold now, and end those that one may', async () => {
    await signInAs(['job:read', 'alert:read', 'alert:write'], { pay: 'operator' })
    const { wrapper, button, sent, submit } = await show(AlertsTab, '/jobs/j1?tab=alerts', answers)
    expect(['a', 'b', 'c', 'd', 'e'].filter((id) => wrapper.text().includes(`silence ${id}`))).toEqual(['a', 'e'])
    expect([...document.querySelectorAll('button')].filter((b) => b.textContent?.trim() === 'End it now')).toHaveLength(1)
    button('End it now')?.click()
    await flushPromises()
    await submit()
    expect(await sent('DELETE')).toEqual([['/alert-silences/a', '']])
    wrapper.unmount()
  })

  it('are silenced for this job alone', async () => {
    await signInAs(['job:read', 'alert:read', 'alert:write'])
    const { wrapper, button, sent, submit } = await show(AlertsTab, '/jobs/j1?tab=alerts', answers)
    button('Silence this job')?.click()
    await flushPromises()
    await submit()
    expect(await sent('POST')).toMatchObject([['/alert-silences', { match: { job: '<b>settle</b>', group: 'pay' }, group: 'pay' }]])
    wrapper.unmount()
  })
})
