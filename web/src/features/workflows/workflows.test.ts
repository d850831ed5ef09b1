import { config, flushPromises, type VueWrapper } from '@vue/test-utils'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { json, mountAt, serve, signInAs } from '@/test/mount'
import ApprovalList from './pages/ApprovalList.vue'
import RunList from './pages/RunList.vue'
import RunPage from './pages/RunPage.vue'
import type { Approval, WorkflowRunDetail, WorkflowStep } from './queries'
import { outcomeOf, runVerbs, stepVerbs } from './run'

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

const at = '2026-11-28T02:00:00Z'
const stepOf = (step: string, more: Partial<WorkflowStep>): WorkflowStep => ({
  step, kind: 'http', state: 'SUCCESS', reason: '', held: false, heldUntil: null, executionId: `e-${step}`, startTime: at, endTime: '2026-11-28T02:00:03Z',
  generation: 1, items: null, ...more,
})
const run: WorkflowRunDetail = {
  id: 'r1', workflowId: 'w1', workflow: 'release', group: 'shop', version: 3, phase: 'OPEN', status: 'RUNNING', reason: '', errorMessage: '', problem: '',
  trigger: 'SCHEDULE', scheduledTime: at, startTime: at, endTime: null, wakeTime: null, retryOf: null, params: null,
  counts: { total: 4, success: 1, failed: 0, skipped: 0, live: 1, waiting: 1, held: 1 },
  steps: [
    stepOf('build', {}), stepOf('publish', { state: 'FAILED', reason: 'HTTP_STATUS', held: true, heldUntil: '2026-11-28T06:00:00Z' }),
    stepOf('score', { kind: 'command', state: 'RUNNING', endTime: null, items: { total: 200, success: 120, failed: 3, notRun: 0, live: 32 } }),
    stepOf('tell', { state: 'NOT_DECIDED', executionId: '', startTime: null, endTime: null }),
  ],
}
const graph = {
  workflowId: 'w1', version: 3, onStepFailure: 'HOLD', holdSec: 14_400,
  steps: run.steps.map((s, i) => ({
    name: s.step, stepId: `step-${s.step}`, kind: s.kind, needs: i === 0 ? [] : [{ step: 'build', on: ['success'] }], join: 'ALL', minSuccess: 0, when: '',
    tolerate: false, finally: false, forEach: null, job: null,
  })),
}
const why = {
  runId: 'r1', step: 'publish', code: 'NEWER', params: {}, explanation: 'publish failed and is held', facts: [{ code: 'NEWER', params: {}, id: 'e-build', text: 'build ended as success' }],
}
const page = (...items: unknown[]) => json({ items, nextCursor: null })
const answers = {
  'GET /api/v1/workflow-runs/r1': () => json(run),
  'GET /api/v1/jobs/w1/graph': () => json(graph),
  'GET /api/v1/workflow-runs/r1/steps/publish/why': () => json(why),
}
const posted = (calls: Request[]) => calls.filter((c) => c.method === 'POST').map((c) => new URL(c.url).pathname.replace('/api/v1', ''))
const show = (address = '/workflow-runs/r1') => mountAt(RunPage, address, { props: { id: 'r1' } })

describe('the page of a workflow run', () => {
  it('shows its state, its counts, and each step with where it stands', async () => {
    const calls = serve(answers)
    await signInAs(['job:read', 'execution:read'])
    const { wrapper } = await show()
    await vi.waitFor(() => expect(wrapper.findAll('g.node')).toHaveLength(4))
    for (const text of ['release', 'Running', 'Open', '1 held', '1 live', '4 in all']) expect(wrapper.text()).toContain(text)
    expect(wrapper.findAll('g.node').map((g) => g.attributes('aria-label'))).toEqual([
      'build HTTP · Succeeded', 'publish HTTP · Held, needs build', 'score Command · 120 of 200, Running, needs build', 'tell HTTP · Not decided, needs build',
    ])
    expect(new URL(calls.find((c) => c.url.includes('/graph'))?.url ?? '').search).toBe('?version=3')
    // A reader may look, and do nothing.
    expect(wrapper.findAll('button').map((b) => b.text())).not.toContain('Pause')
  })

  it('folds a map into one line of the list, with its counts', async () => {
    serve(answers)
    await signInAs(['job:read', 'execution:read'])
    const { wrapper } = await show()
    await vi.waitFor(() => expect(wrapper.find('input[value=list]').exists()).toBe(true))
    await wrapper.get('input[value=list]').setValue()
    const rows = wrapper.findAll('tbody tr').map((r) => r.text())
    expect(rows).toHaveLength(4)
    expect(rows[1]).toMatch(/publish.*Held.*HTTP status.*3 s/)
    expect(rows[2]).toContain('120 of 200 succeeded, 3 failed, 32 live, 0 not run')
  })

  it('opens a step by its address: why it is there, its run, its history, and repeats it after a question', async () => {
    const calls = serve({ ...answers, 'POST /api/v1/workflow-runs/r1/steps/publish/repeat': () => json({ executionId: 'r1' }, 202) })
    await signInAs(['job:read', 'execution:read', 'execution:write'])
    const { wrapper, router } = await show('/workflow-runs/r1?step=publish')
    await vi.waitFor(() => expect(wrapper.text()).toContain('publish failed and is held'))
    expect(wrapper.text()).toContain('build ended as success')
    expect(wrapper.findAll('a').map((a) => a.attributes('href'))).toEqual(
      expect.arrayContaining(['/jobs/w1', '/executions/e-publish', '/executions/e-build', '/executions?jobId=step-publish', '/executions/r1']))
    const buttons = wrapper.findAll('button')
    expect(buttons.map((b) => b.text()).filter((b) => ['Repeat', 'Skip', 'Call it a success', 'Cancel the step', 'Resume'].includes(b))).toEqual(['Repeat', 'Call it a success', 'Skip'])
    await buttons.find((b) => b.text() === 'Repeat')?.trigger('click')
    await flushPromises()
    expect(posted(calls)).toEqual([])
    const question = wrapper.findAll('[role=dialog]').find((d) => d.text().includes('Repeat publish?'))
    await question?.get('form').trigger('submit')
    await vi.waitFor(() => expect(posted(calls)).toEqual(['/workflow-runs/r1/steps/publish/repeat']))
    expect(calls.find((c) => c.method === 'POST')?.headers.get('Idempotency-Key')).toBeTruthy()
    await wrapper.findAll('button').find((b) => b.text() === 'Close')?.trigger('click')
    await vi.waitFor(() => expect(router.currentRoute.value.query).toEqual({}))
  })

  it('cancels after a question, and says what the server refuses', async () => {
    const calls = serve({ ...answers, 'POST /api/v1/workflow-runs/r1/cancel': () => json({ code: 'final', detail: 'it is final already', status: 409 }, 409) })
    await signInAs(['job:read', 'execution:read', 'execution:write'])
    const { wrapper } = await show()
    await vi.waitFor(() => expect(wrapper.text()).toContain('Cancel the run'))
    await wrapper.findAll('button').find((b) => b.text() === 'Cancel the run')?.trigger('click')
    await flushPromises()
    await wrapper.get('[role=dialog] form').trigger('submit')
    await vi.waitFor(() => expect(wrapper.get('[role=dialog]').text()).toContain('it is final already'))
    expect(posted(calls)).toEqual(['/workflow-runs/r1/cancel'])
  })

  it('offers what can be done at this moment, and nothing else', () => {
    expect((['OPEN', 'PAUSED', 'CANCELLING', 'CLOSED'] as const).map(runVerbs)).toEqual([['pause', 'cancel'], ['resume', 'cancel'], [], []])
    const [build, publish, score, tell] = run.steps
    expect([build, publish, score, tell].map((s) => s && stepVerbs(s, 'OPEN'))).toEqual([[], ['repeat', 'succeed', 'skip'], ['cancel'], []])
    expect(publish && stepVerbs(publish, 'CANCELLING')).toEqual([])
    expect(stepVerbs({ state: 'WAITING', held: false }, 'PAUSED')).toEqual(['skip', 'cancel'])
  })
})

describe('the retry of a workflow run', () => {
  const failed: WorkflowRunDetail = {
    ...run, phase: 'CLOSED', status: 'FAILED', endTime: at, retryOf: 'r0',
    steps: [stepOf('build', { reason: 'REUSED' }), stepOf('publish', { state: 'FAILED', reason: 'HTTP_STATUS' }), stepOf('tell', {})],
  }
  /** A plan in which these steps are repeated, and publish in any case. */
  const plan = (from: string[]) => {
    const steps = failed.steps.map((s) => {
      const cause = from.includes(s.step) ? 'NAMED' : s.step === 'publish' ? 'FAILED' : from.includes('build') ? 'FOLLOWS' : 'SUCCEEDED'
      return { step: s.step, kind: s.kind, state: s.state, reason: s.reason, action: cause === 'SUCCEEDED' ? 'REUSE' : 'REPEAT', cause, follows: cause === 'FOLLOWS' ? 'build' : null, why: '' }
    })
    return { repeated: steps.filter((s) => s.action === 'REPEAT').length, reused: steps.filter((s) => s.action === 'REUSE').length, steps }
  }
  const named = (call: Request) => (new URL(call.url).searchParams.get('from') ?? '').split(',').filter(Boolean)
  const server = (more: object = {}) => serve({
    ...answers, 'GET /api/v1/workflow-runs/r1': () => json(failed),
    'GET /api/v1/workflow-runs/r1/retry-plan': (call: Request) => json(plan(named(call))),
    'POST /api/v1/workflow-runs/r1/retry': () => json({ executionId: 'r2', executionIds: ['r2'] }, 202), ...more,
  })
  const dialog = (wrapper: VueWrapper) => wrapper.findAll('[role=dialog]').find((d) => d.text().includes('Retry this run')) ?? wrapper.get('#no-dialog')
  const open = async (permissions = ['job:read', 'execution:read', 'execution:write'] as Parameters<typeof signInAs>[0]) => {
    await signInAs(permissions)
    const shown = await show()
    await vi.waitFor(() => expect(shown.wrapper.text()).toContain('Closed'))
    await shown.wrapper.findAll('button').find((b) => b.text() === 'Retry')?.trigger('click')
    await flushPromises()
    return shown
  }

  it('shows what becomes of each step, takes others in, and leads to the new run', async () => {
    const calls = server()
    const { wrapper, router } = await open()
    const rows = () => dialog(wrapper).findAll('tbody tr').map((r) => r.text())
    await vi.waitFor(() => expect(rows()).toEqual([
      expect.stringMatching(/build.*Reused.*Its result is taken over/), expect.stringMatching(/publish.*Failed.*Repeated.*It failed/), expect.stringMatching(/tell.*Its result is taken over/),
    ]))
    expect(dialog(wrapper).text()).toContain('1 repeated, 2 reused')
    expect(posted(calls)).toEqual([])
    const boxes = dialog(wrapper).findAll<HTMLInputElement>('input[type=checkbox]')
    expect(boxes.map((b) => [b.element.checked, b.element.disabled])).toEqual([[false, false], [true, true], [false, false]])
    await boxes[0]?.setValue(true)
    await vi.waitFor(() => expect(rows()).toEqual([
      expect.stringMatching(/build.*You chose it/), expect.stringMatching(/publish.*It failed/), expect.stringMatching(/tell.*It follows build/),
    ]))
    await dialog(wrapper).get('form').trigger('submit')
    await vi.waitFor(() => expect(router.currentRoute.value.path).toBe('/workflow-runs/r2'))
    const sent = calls.find((c) => c.method === 'POST' && c.url.endsWith('/retry'))
    expect(await sent?.json()).toEqual({ from: ['build'] })
    expect(sent?.headers.get('Idempotency-Key')).toBeTruthy()
  })

  it('names the run that is repeated, and which steps are that run\'s', async () => {
    server()
    await signInAs(['job:read', 'execution:read'])
    const { wrapper } = await show()
    await vi.waitFor(() => expect(wrapper.findAll('a').map((a) => a.attributes('href'))).toContain('/workflow-runs/r0'))
    await vi.waitFor(() => expect(wrapper.find('input[value=list]').exists()).toBe(true))
    await wrapper.get('input[value=list]').setValue()
    expect(wrapper.get('tbody tr').text()).toContain('Reused')
    expect(wrapper.findAll('button').map((b) => b.text())).not.toContain('Retry')
  })

  it('of a success begins with the choice of a step', async () => {
    const calls = server({ 'GET /api/v1/workflow-runs/r1': () => json({ ...failed, status: 'SUCCESS' }) })
    const { wrapper } = await open()
    const asked = () => calls.filter((c) => c.url.includes('retry-plan')).map(named)
    expect(dialog(wrapper).text()).toContain('Choose the steps to repeat')
    expect(asked()).toEqual([])
    await dialog(wrapper).get('form').trigger('submit')
    expect(posted(calls)).toEqual([])
    await dialog(wrapper).findAll('input[type=checkbox]')[2]?.setValue(true)
    await vi.waitFor(() => expect(asked()).toEqual([['tell']]))
  })

  it('says why there can be none', async () => {
    server({ 'GET /api/v1/workflow-runs/r1/retry-plan': () => json({ code: 'result_gone', detail: 'the results of some steps are gone', status: 409 }, 409) })
    const { wrapper } = await open()
    await vi.waitFor(() => expect(dialog(wrapper).text()).toContain('the results of some steps are gone'))
    expect(dialog(wrapper).findAll('button').find((b) => b.text() === 'Retry')?.attributes('disabled')).toBeDefined()
  })

  it('waits for the start of the new run', async () => {
    serve({
      'GET /api/v1/workflow-runs/r1': () => json({ code: 'not_found', detail: 'no', status: 404 }, 404),
      'GET /api/v1/executions/r1': () => json({ id: 'r1', status: 'WAITING' }),
    })
    await signInAs(['job:read', 'execution:read'])
    const { wrapper } = await show()
    await vi.waitFor(() => expect(wrapper.text()).toContain('begins as soon as its root execution has started'))
    expect(wrapper.findAll('a').map((a) => a.attributes('href'))).toContain('/executions/r1')
  })
})

it('lists workflow runs, narrowed by the address', async () => {
  const calls = serve({ 'GET /api/v1/workflow-runs': () => page(run), 'GET /api/v1/groups': () => page() })
  await signInAs(['job:read', 'execution:read'])
  const { wrapper } = await mountAt(RunList, '/workflow-runs?workflowId=w1&phase=OPEN')
  await vi.waitFor(() => expect(wrapper.findAll('tbody tr')).toHaveLength(1))
  expect(wrapper.get('tbody a').attributes('href')).toBe('/workflow-runs/r1')
  expect(wrapper.get('tbody tr').text()).toMatch(/release.*Running.*Open.*1 held/)
  expect(new URL(calls.find((c) => c.url.includes('/workflow-runs'))?.url ?? '').search).toBe('?workflowId=w1&phase=OPEN&limit=50')
})

describe('the inbox of approvals', () => {
  const approval: Approval = {
    executionId: 'e1', runId: 'r1', workflowId: 'w1', workflow: 'release', group: 'shop', step: 'approve', text: 'See <i>http://diff</i>', status: 'WAITING', reason: '',
    need: 2, approved: 1, votes: [{ user: 'bob', decision: 'APPROVE', comment: 'looks right', time: at }], onTimeout: 'REJECT', openedTime: at,
    timeoutTime: '2026-11-28T04:00:00Z', decidedTime: null, mayVote: true,
  }

  it('asks for the open ones of the user, and shows what is known of each', async () => {
    const calls = serve({ 'GET /api/v1/approvals': () => page(approval, { ...approval, executionId: 'e2', mayVote: false }) })
    await signInAs(['execution:read', 'approval:vote'])
    const { wrapper } = await mountAt(ApprovalList, '/approvals')
    await vi.waitFor(() => expect(wrapper.findAll('tbody tr')).toHaveLength(2))
    expect(new URL(calls[0]?.url ?? '').search).toBe('?status=OPEN&mine=true&limit=50')
    const [mine, other] = wrapper.findAll('tbody tr')
    for (const text of ['release / approve', 'Open', 'See <i>http://diff</i>', '1 of 2 have approved', 'bob', 'looks right', 'It counts as rejected']) expect(mine?.text()).toContain(text)
    expect(mine?.get('a').attributes('href')).toBe('/workflow-runs/r1?step=approve')
    expect([mine, other].map((row) => row?.findAll('button').length)).toEqual([2, 0])
    await wrapper.get('input[value=ALL]').setValue()
    await wrapper.get('input[value=all]').setValue()
    await vi.waitFor(() => expect(new URL(calls.at(-1)?.url ?? '').search).toBe('?limit=50'))
  })

  it('sends a vote with its comment, after a question', async () => {
    const calls = serve({ 'GET /api/v1/approvals': () => page(approval), 'POST /api/v1/approvals/e1': () => json(approval) })
    await signInAs(['execution:read', 'approval:vote'])
    const { wrapper } = await mountAt(ApprovalList, '/approvals')
    await vi.waitFor(() => expect(wrapper.find('[aria-label="Reject approve of release"]').exists()).toBe(true))
    await wrapper.get('[aria-label="Reject approve of release"]').trigger('click')
    await flushPromises()
    expect(posted(calls)).toEqual([])
    await wrapper.get('[role=dialog] textarea').setValue(' too dear ')
    await wrapper.get('[role=dialog] form').trigger('submit')
    await vi.waitFor(() => expect(posted(calls)).toEqual(['/approvals/e1']))
    expect(await calls.find((c) => c.method === 'POST')?.json()).toEqual({ decision: 'REJECT', comment: 'too dear' })
  })

  it('tells the ends apart', () => {
    const of = (status: Approval['status'], reason: Approval['reason'] = '') => outcomeOf({ status, reason })
    expect([of('WAITING'), of('SUCCESS'), of('FAILED', 'REJECTED'), of('FAILED', 'TIMEOUT'), of('FAILED', 'INVALID'), of('CANCELLED', 'RUN_CANCELLED')]).toEqual(
      ['OPEN', 'APPROVED', 'REJECTED', 'TIMEOUT', 'FAILED', 'CANCELLED'])
  })
})
