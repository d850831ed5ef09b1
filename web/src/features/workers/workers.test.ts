import { config, flushPromises } from '@vue/test-utils'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { json, mountAt, serve, signInAs } from '@/test/mount'
import GroupList from './pages/GroupList.vue'
import GroupPage from './pages/GroupPage.vue'
import WorkerList from './pages/WorkerList.vue'
import WorkerPage from './pages/WorkerPage.vue'
import type { Worker, WorkerGroup } from './queries'
import { stateOf } from './worker'

// Selections need a layout; the tests in a browser use them.
const { stubs } = config.global
beforeAll(() => {
  config.global.stubs = { ...stubs, ElSelect: true, ElOption: true }
})
afterAll(() => {
  config.global.stubs = stubs
})

const at = new Date().toISOString()
const worker: Worker = {
  id: '@shop.7h2kq0c5m9x1d', group: 'shop', instance: 'shop-7c9', jobGroups: ['orders'], status: 'UP', suspect: false, epoch: 3, slots: 8,
  running: 2, commandSlots: 2, commandsRunning: 1, weight: 1, labels: { zone: 'a' }, handlers: ['bill', 'settle'], sdk: 'java 1.0.0',
  runtime: '17.0.15', version: 'shop 3.2', host: '10.0.0.7', pid: 42, gateway: 'node-1', lastBeat: at, leaseUntil: at, beginTime: at, createTime: at,
}
const group: WorkerGroup = {
  name: 'shop', jobGroups: ['orders', 'billing'], secrets: true, commands: false, declare: true, maxWorkers: 200, workers: { up: 3, draining: 1, down: 0 }, version: 4,
  createTime: at, updateTime: at,
}
const page = <T>(...items: T[]) => json({ items, nextCursor: null })
const posted = (calls: Request[], method = 'POST') => calls.filter((c) => c.method === method).map((c) => decodeURIComponent(new URL(c.url).pathname))

describe('the list of workers', () => {
  it('shows state, group, load and gateway, and narrows by the address', async () => {
    const calls = serve({ 'GET /api/v1/workers': () => page(worker, { ...worker, id: '@shop.b', instance: 'b', suspect: true }) })
    await signInAs(['job:read'])
    const { wrapper } = await mountAt(WorkerList, '/workers?group=shop&status=UP')
    await vi.waitFor(() => expect(wrapper.findAll('tbody tr')).toHaveLength(2))
    const [first, second] = wrapper.findAll('tbody tr')
    for (const text of ['shop-7c9', 'Up', 'shop', '3 / 10', '2', 'zone=a', 'shop 3.2', 'java 1.0.0', 'node-1']) expect(first?.text()).toContain(text)
    expect(first?.get('a').attributes('href')).toBe('/workers/@shop.7h2kq0c5m9x1d')
    expect(second?.text()).toContain('Suspect')
    expect(new URL(calls[0]?.url ?? '').search).toBe('?limit=50&group=shop&status=UP')
    expect(wrapper.find('tbody button').exists()).toBe(false)
    expect(wrapper.text()).not.toContain('Worker groups')
    expect(wrapper.findAll('a').map((a) => a.attributes('href'))).not.toContain('/worker-groups/shop')
  })

  it('offers to drain what is not down to who may in all of its groups', async () => {
    const rows = [
      worker, { ...worker, id: '@shop.b', instance: 'b', status: 'DOWN' as const },
      { ...worker, id: '@shop.c', instance: 'c', jobGroups: ['orders', 'billing'] },
    ]
    const calls = serve({
      'GET /api/v1/workers': () => page(...rows),
      [`POST /api/v1/workers/${encodeURIComponent(worker.id)}/drain`]: () => json({ ...worker, status: 'DRAINING' }),
      [`POST /api/v1/workers/${worker.id}/drain`]: () => json({ ...worker, status: 'DRAINING' }),
    })
    await signInAs(['job:read', 'worker:write'], { orders: 'operator', billing: 'viewer' })
    const { wrapper } = await mountAt(WorkerList, '/workers')
    await vi.waitFor(() => expect(wrapper.findAll('tbody tr')).toHaveLength(3))
    const offered = wrapper.findAll('tbody button')
    expect(offered.map((b) => b.attributes('aria-label'))).toEqual(['Drain shop-7c9'])
    await offered[0]?.trigger('click')
    await flushPromises()
    expect(wrapper.get('[role=dialog]').text()).toContain('Drain shop-7c9?')
    expect(posted(calls)).toEqual([])
    await wrapper.get('[role=dialog] form').trigger('submit')
    await flushPromises()
    expect(posted(calls)).toEqual([`/api/v1/workers/${worker.id}/drain`])
  })
})

describe('the page of a worker', () => {
  it('shows what it is, what it offers and what it runs', async () => {
    const run = { id: 'e1', jobId: 'j', jobName: 'settle orders', status: 'RUNNING', startTime: at, attempt: 2 }
    const calls = serve({
      [`GET /api/v1/workers/${worker.id}`]: () => json({ ...worker, suspect: true }),
      [`GET /api/v1/workers/${encodeURIComponent(worker.id)}`]: () => json({ ...worker, suspect: true }),
      'GET /api/v1/executions': () => page(run),
    })
    await signInAs(['job:read', 'execution:read'])
    const { wrapper } = await mountAt(WorkerPage, `/workers/${worker.id}`, { props: { id: worker.id } })
    await vi.waitFor(() => expect(wrapper.text()).toContain('settle orders'))
    for (const text of ['shop-7c9', 'Suspect', 'java 1.0.0, 17.0.15', '10.0.0.7', '2 / 8', '1 / 2', 'settle', 'over two beats']) {
      expect(wrapper.text()).toContain(text)
    }
    const asked = calls.find((c) => c.url.includes('/executions'))
    expect(new URL(asked?.url ?? '').searchParams.get('nodeId')).toBe(worker.id)
    expect(wrapper.findAll('a').map((a) => decodeURIComponent(a.attributes('href') ?? ''))).toEqual(
      expect.arrayContaining(['/workers?group=shop', '/nodes/node-1', '/executions/e1', `/executions?nodeId=${worker.id}`]))
  })

  it('tells the states apart', () => {
    expect([worker, { ...worker, suspect: true }, { ...worker, suspect: true, status: 'DRAINING' as const }].map(stateOf)).toEqual([
      'UP', 'SUSPECT', 'DRAINING',
    ])
  })
})

describe('worker groups', () => {
  it('are listed with their workers, and changed at the version that was read', async () => {
    const bodies: unknown[] = []
    serve({
      'GET /api/v1/worker-groups': () => page(group),
      'GET /api/v1/groups': () => page(),
      'PUT /api/v1/worker-groups/shop': async (r) => {
        bodies.push(await r.json())
        return json(group)
      },
    })
    await signInAs(['job:read', 'worker:admin'])
    const { wrapper } = await mountAt(GroupList, '/worker-groups?edit=shop')
    await vi.waitFor(() => expect(wrapper.findAll('tbody tr')).toHaveLength(1))
    expect(wrapper.get('tbody tr').text()).toMatch(/shop.*3.*1.*orders, billing.*secrets, declare jobs.*200/)
    await vi.waitFor(() => expect(wrapper.find('#worker-group').exists()).toBe(true))
    expect(wrapper.text()).toContain('Change shop')
    await wrapper.get('#worker-group').trigger('submit')
    await flushPromises()
    expect(bodies).toEqual([{ jobGroups: ['orders', 'billing'], secrets: true, commands: false, declare: true, maxWorkers: 200, version: 4 }])
  })

  it('stay where the server says that jobs name them', async () => {
    serve({
      'GET /api/v1/worker-groups': () => page(group),
      'DELETE /api/v1/worker-groups/shop': () => json({ code: 'worker_group_in_use', detail: 'jobs name it: orders/settle', status: 409 }, 409),
    })
    await signInAs(['job:read', 'worker:admin'])
    const { wrapper } = await mountAt(GroupList, '/worker-groups')
    await vi.waitFor(() => expect(wrapper.find('[aria-label="Delete shop"]').exists()).toBe(true))
    await wrapper.get('[aria-label="Delete shop"]').trigger('click')
    await flushPromises()
    await wrapper.get('[role=dialog] form').trigger('submit')
    await vi.waitFor(() => expect(wrapper.get('[role=dialog]').text()).toContain('orders/settle'))
  })

  it('show a token once, and revoke one after a question', async () => {
    const token = { id: 't1', group: 'shop', name: 'deployed in May', createdBy: 'ann', expiresAt: at, lastUsedAt: null, createTime: at }
    const calls = serve({
      'GET /api/v1/worker-groups/shop': () => json(group),
      'GET /api/v1/worker-groups/shop/tokens': () => page(token),
      'POST /api/v1/worker-groups/shop/tokens': () => json({ ...token, id: 't2', token: 'psw_abc' }, 201),
      'DELETE /api/v1/worker-groups/shop/tokens/t1': () => new Response(null, { status: 204 }),
    })
    await signInAs(['job:read', 'worker:admin'])
    const { wrapper } = await mountAt(GroupPage, '/worker-groups/shop', { props: { name: 'shop' } })
    await vi.waitFor(() => expect(wrapper.text()).toContain('deployed in May'))
    await wrapper.findAll('button').find((b) => b.text() === 'New token')?.trigger('click')
    await flushPromises()
    await wrapper.get('#worker-token-name').setValue('in June')
    await wrapper.get('#worker-token').trigger('submit')
    await vi.waitFor(() => expect(wrapper.get('[data-test=token]').text()).toBe('psw_abc'))
    const body = await calls.find((c) => c.method === 'POST')?.json() as { name: string; expiresAt: string }
    expect(body.name).toBe('in June')
    expect(Math.round((Date.parse(body.expiresAt) - Date.now()) / 86_400_000)).toBe(90)
    await wrapper.findAll('button').find((b) => b.text() === 'I have stored it')?.trigger('click')
    await flushPromises()
    expect(wrapper.text()).not.toContain('psw_abc')

    await wrapper.get('[aria-label="Revoke deployed in May"]').trigger('click')
    await flushPromises()
    const question = wrapper.findAll('[role=dialog]').find((d) => d.text().includes('Revoke deployed in May?'))
    await question?.get('form').trigger('submit')
    await vi.waitFor(() => expect(posted(calls, 'DELETE')).toEqual(['/api/v1/worker-groups/shop/tokens/t1']))
  })
})
