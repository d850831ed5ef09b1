import { config } from '@vue/test-utils'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { json, mountAt, serve, signInAs } from '@/test/mount'
import { storedJob } from '@/test/job'
import JobPage from '../pages/JobPage.vue'
import { cellOf, rowsOf } from './grid'
import type { WorkflowRunDetail } from './queries'
import StepsTab from './StepsTab.vue'

// Selections need a layout; the tests in a browser use them.
const { stubs } = config.global
// The graph loads late: a slow machine would still be reading it when a test looks.
beforeAll(async () => {
  await import('@/shared/workflow/GraphView.vue')
  config.global.stubs = { ...stubs, ElSelect: true, ElOption: true }
})
afterAll(() => {
  config.global.stubs = stubs
})

const job = storedJob({ id: 'w1', name: 'release', jobType: 'WORKFLOW', version: 3 })
const steps = (...names: string[]) => names.map((name, i) => ({
  name, stepId: `step-${name}`, kind: i === 0 ? 'http' : 'approval', needs: i === 0 ? [] : [{ step: names[0] ?? '', on: ['failure'] }], join: 'ALL', minSuccess: 0,
  when: i === 0 ? '' : 'steps.build.output.changed > 100', tolerate: false, finally: false, forEach: null, job: null,
}))
const run = (id: string, version: number, states: Record<string, string>) => ({
  id, workflowId: 'w1', workflow: 'release', group: 'shop', version, phase: 'CLOSED', status: 'FAILED', scheduledTime: `2026-11-2${version}T00:00:00Z`,
  steps: Object.entries(states).map(([step, state]) => ({ step, kind: 'http', state: state === 'HELD' ? 'FAILED' : state, held: state === 'HELD', items: null, reason: '' })),
}) as unknown as WorkflowRunDetail
const newest = run('r2', 3, { build: 'SUCCESS', approve: 'HELD' })
const former = run('r1', 2, { build: 'FAILED', gone: 'SKIPPED' })
const answers = {
  'GET /api/v1/jobs/w1': () => json(job),
  'GET /api/v1/workflow-runs': () => json({ items: [newest, former], nextCursor: null }),
  'GET /api/v1/workflow-runs/r2': () => json(newest),
  'GET /api/v1/workflow-runs/r1': () => json(former),
  'GET /api/v1/jobs/w1/graph': (request: Request) => json({
    workflowId: 'w1', version: 3, onStepFailure: 'HOLD', holdSec: 14_400, steps: new URL(request.url).search === '?version=2' ? steps('build', 'gone') : steps('build', 'approve'),
  }),
}

describe('the steps of a workflow', () => {
  it('stand with the states of the newest run, and of another one that is chosen', async () => {
    const calls = serve(answers)
    await signInAs(['job:read', 'execution:read'])
    const { wrapper, router } = await mountAt(StepsTab, '/jobs/w1?step=approve', { props: { job } })
    const labels = () => wrapper.findAll('g.node').map((g) => g.attributes('aria-label'))
    await vi.waitFor(() => expect(labels()).toEqual(['build HTTP · Succeeded', 'approve Approval · Held, needs build (failure), has a condition']))
    expect(wrapper.text()).toContain('A failure is held for a person, for 4 h at most.')
    expect(wrapper.get('section.chosen').text()).toContain('steps.build.output.changed > 100')
    expect(wrapper.get('section.chosen').findAll('a').map((a) => a.attributes('href'))).toEqual(['/workflow-runs/r2?step=approve', '/executions?jobId=step-approve'])
    expect(new URL(calls.find((c) => c.url.includes('/workflow-runs?'))?.url ?? '').search).toBe('?workflowId=w1&limit=25')

    await wrapper.findAll('thead button')[1]?.trigger('click')
    await vi.waitFor(() => expect(labels()).toEqual(['build HTTP · Failed', 'gone Approval · Skipped, needs build (failure), has a condition']))
    expect(router.currentRoute.value.query['run']).toBe('r1')
    expect(wrapper.text()).toContain('The graph is that of version 2')
  })

  it('have a cell in each run, which leads there', async () => {
    const calls = serve(answers)
    await signInAs(['job:read', 'execution:read'])
    const { wrapper } = await mountAt(StepsTab, '/jobs/w1', { props: { job } })
    await vi.waitFor(() => expect(wrapper.findAll('tbody a')).toHaveLength(4))
    expect(wrapper.findAll('tbody tr').map((r) => r.findAll('th, td').map((c) => c.text()))).toEqual([
      ['build', 'Succeeded', 'Failed'], ['approve', 'Held', '–'], ['gone', '–', 'Skipped'],
    ])
    expect(wrapper.findAll('tbody a').map((a) => a.attributes('href'))).toEqual([
      '/workflow-runs/r2?step=build', '/workflow-runs/r1?step=build', '/workflow-runs/r2?step=approve', '/workflow-runs/r1?step=gone',
    ])
    expect(wrapper.get('tbody a').attributes('aria-label')).toMatch(/^build, 2026-11-23.*: Succeeded$/)
    // Each run is read once, although graph and grid show it.
    expect(calls.filter((c) => c.url.endsWith('/workflow-runs/r2'))).toHaveLength(1)
  })

  it('are the first tab of a workflow, and of no other job', async () => {
    await signInAs(['job:read', 'execution:read'])
    serve(answers)
    const { wrapper } = await mountAt(JobPage, '/jobs/w1', { props: { id: 'w1' } })
    await vi.waitFor(() => expect(wrapper.find('.tabs a.on').exists()).toBe(true))
    expect(wrapper.get('.tabs a.on').text()).toBe('Steps')
    wrapper.unmount()
    serve({ 'GET /api/v1/jobs/j1': () => json(storedJob({ id: 'j1' })) })
    const other = await mountAt(JobPage, '/jobs/j1', { props: { id: 'j1' } })
    await vi.waitFor(() => expect(other.wrapper.find('.tabs a.on').exists()).toBe(true))
    expect(other.wrapper.findAll('.tabs a').map((a) => a.text())).not.toContain('Steps')
  })

  it('of former versions follow those of now', () => {
    expect(rowsOf(['build', 'approve'], [newest, undefined, former])).toEqual(['build', 'approve', 'gone'])
    expect([cellOf(newest, 'approve'), cellOf(undefined, 'build'), cellOf(former, 'approve')]).toEqual(['HELD', undefined, undefined])
  })
})
