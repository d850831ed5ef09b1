import { flushPromises } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import { json, mountAt, serve, signInAs } from '@/test/mount'
import NodeList from './pages/NodeList.vue'
import NodePage from './pages/NodePage.vue'
import type { Node } from './queries'

const node: Node = {
  id: 'n1', ip: '10.0.0.1', port: 8080, status: 'UP', epoch: 3, roles: ['scheduler'], labels: { zone: 'a' }, weight: 1, slots: 8,
  running: 2, cpu: 0.25, memory: 2 ** 30, version: 'v1', partitions: [1, 2, 3], clockOffsetMs: 1500, clockSkewed: true,
  lastHeartbeat: new Date().toISOString(),
  capabilities: { published: true, handlers: ['mail'], slots: [{ kind: 'GENERAL', total: 8, running: 2 }] },
}

describe('the list of nodes', () => {
  it('shows load, partitions and epoch', async () => {
    serve({ 'GET /api/v1/nodes': () => json({ items: [node], nextCursor: null }) })
    await signInAs(['job:read'])
    const { wrapper } = await mountAt(NodeList, '/nodes')
    await vi.waitFor(() => expect(wrapper.get('tbody tr').text()).toContain('n1'))
    const cells = wrapper.findAll('tbody td').map((c) => c.text())
    expect(cells.slice(0, 7)).toEqual(['n1', 'Up', '2 / 8', '3', '3', '25%', '1 GiB'])
    expect(wrapper.text()).not.toContain('Drain')
  })

  it('offers to drain what is not down to who may, after a question', async () => {
    const nodes = [node, { ...node, id: 'n2', status: 'DOWN' as const }]
    const calls = serve({
      'GET /api/v1/nodes': () => json({ items: nodes, nextCursor: null }),
      'POST /api/v1/nodes/n1/drain': () => json({ ...node, status: 'DRAINING' }),
    })
    await signInAs(['job:read', 'node:write'])
    const { wrapper } = await mountAt(NodeList, '/nodes')
    await vi.waitFor(() => expect(wrapper.findAll('tbody tr')).toHaveLength(2))
    const offered = wrapper.findAll('tbody button')
    expect(offered).toHaveLength(1)
    await offered[0]?.trigger('click')
    await flushPromises()
    expect(wrapper.get('[role=dialog]').text()).toContain('Drain n1?')
    expect(calls.filter((c) => c.method === 'POST')).toHaveLength(0)
    await wrapper.get('[role=dialog] form').trigger('submit')
    await flushPromises()
    expect(calls.filter((c) => c.method === 'POST').map((c) => new URL(c.url).pathname)).toEqual(['/api/v1/nodes/n1/drain'])
  })

  it('keeps the question open with the reason where the server refuses', async () => {
    serve({
      'GET /api/v1/nodes': () => json({ items: [node], nextCursor: null }),
      'POST /api/v1/nodes/n1/drain': () => json({ code: 'conflict', detail: 'the node is down', status: 409 }, 409),
    })
    await signInAs(['job:read', 'node:write'])
    const { wrapper } = await mountAt(NodeList, '/nodes')
    await vi.waitFor(() => expect(wrapper.find('tbody button').exists()).toBe(true))
    await wrapper.get('tbody button').trigger('click')
    await flushPromises()
    await wrapper.get('[role=dialog] form').trigger('submit')
    await vi.waitFor(() => expect(wrapper.get('[role=dialog]').text()).toContain('the node is down'))
  })
})

describe('the page of a node', () => {
  it('shows its facts, and warns of its clock', async () => {
    serve({ 'GET /api/v1/nodes/n1': () => json(node) })
    await signInAs(['job:read'])
    const { wrapper } = await mountAt(NodePage, '/nodes/n1', { props: { id: 'n1' } })
    await vi.waitFor(() => expect(wrapper.text()).toContain('10.0.0.1:8080'))
    expect(wrapper.text()).toContain('zone=a')
    expect(wrapper.text()).toContain('1.5 s')
    expect(wrapper.text()).toContain('Set it by NTP')
    expect(wrapper.findAll('.partitions li').map((p) => p.text())).toEqual(['1', '2', '3'])
  })

  it('says where it does not exist', async () => {
    serve({})
    await signInAs(['job:read'])
    const { wrapper } = await mountAt(NodePage, '/nodes/x', { props: { id: 'x' } })
    await vi.waitFor(() => expect(wrapper.get('[role=alert]').text()).toContain('does not exist'))
  })
})
