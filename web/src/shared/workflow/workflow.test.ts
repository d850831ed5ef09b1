import { mount } from '@vue/test-utils'
import { describe, expect, it, vi } from 'vitest'
import GraphView from './GraphView.vue'
import { HEIGHT, layout, WIDTH } from './layout'
import StepGraph from './StepGraph.vue'
import { stateOf, type GraphStep } from './step'
import { needsText } from './words'

const step = (name: string, needs: string[] = [], more: Partial<GraphStep> = {}): GraphStep =>
  ({ name, kind: 'command', needs: needs.map((one) => ({ step: one, on: ['success'] })), ...more })
/** The steps of docs/workflows/release-price-list.yaml. */
const release: GraphStep[] = [
  step('build'),
  step('approve', ['build'], { kind: 'approval', when: 'steps.build.output.changed > 100' }),
  step('publish', [], { kind: 'http', needs: [{ step: 'build', on: ['success'] }, { step: 'approve', on: ['success', 'skipped'] }] }),
  step('roll-back', [], { kind: 'http', needs: [{ step: 'publish', on: ['failure'] }] }),
  step('tell', [], { kind: 'custom', finally: true }),
]

describe('the layout of a graph', () => {
  const at = (name: string, of = layout(release)) => {
    const found = of.nodes.find((n) => n.step.name === name)
    if (!found) throw new Error(`no ${name}`)
    return found
  }

  it('puts each step behind all that it needs, and those that run last behind all', () => {
    const xs = ['build', 'approve', 'publish', 'roll-back', 'tell'].map((name) => at(name).x)
    expect(xs).toEqual([...xs].sort((a, b) => a - b))
    expect(new Set(xs).size).toBe(5)
  })

  it('does not depend on the order of the steps', () => {
    const turned = layout([...release].reverse())
    for (const { step: s, x } of layout(release).nodes) expect(at(s.name, turned).x, s.name).toBe(x)
  })

  it('has an edge for each need, with its words where it asks for more than a success', () => {
    expect(layout(release).edges.map((e) => [e.from, e.to, ...e.words])).toEqual([
      ['build', 'approve'], ['build', 'publish'], ['approve', 'publish', 'success', 'skipped'], ['publish', 'roll-back', 'failure'],
    ])
  })

  it('lays no step over another, nor outside', () => {
    const many = Array.from({ length: 200 }, (_, i) => step(`s${i}`, [i - 1, Math.floor(i / 2) - 1, i - 17].filter((n) => n >= 0 && n < i && i % 7 !== 0).map((n) => `s${n}`)))
    const { nodes, width, height } = layout(many)
    expect(nodes).toHaveLength(200)
    for (const [i, a] of nodes.entries()) {
      expect(a.x >= 0 && a.y >= 0 && a.x + WIDTH <= width && a.y + HEIGHT <= height).toBe(true)
      for (const b of nodes.slice(i + 1)) expect(Math.abs(a.x - b.x) >= WIDTH || Math.abs(a.y - b.y) >= HEIGHT, `${a.step.name} ${b.step.name}`).toBe(true)
    }
  })

  it('bears what a draft has wrong: circles, names that are no steps, names twice, nothing', () => {
    expect(layout([step('a', ['b']), step('b', ['a']), step('c', ['nobody', 'c'])]).nodes).toHaveLength(3)
    expect(layout([step('a'), step('a')]).nodes).toHaveLength(2)
    expect(layout([])).toMatchObject({ nodes: [], edges: [] })
    expect(layout([]).width, 'a picture has no negative width').toBeGreaterThan(0)
  })
})

describe('a graph', () => {
  const states = { build: { state: 'SUCCESS' }, publish: { state: 'FAILED', held: true }, tell: { state: 'RUNNING', items: { total: 9, success: 4, failed: 0 } } }

  it('says of each step what it is, where it stands and what it needs, and is used by keys', async () => {
    const wrapper = mount(GraphView, { props: { steps: release, states, selectable: true, selected: 'build', label: 'Steps' } })
    const labels = wrapper.findAll('g.node').map((g) => g.attributes('aria-label'))
    expect(labels).toEqual([
      'build Command · Succeeded', 'approve Approval, needs build, has a condition', 'publish HTTP · Held, needs build, approve (success or skipped)',
      'roll-back HTTP, needs publish (failure)', 'tell Handler · 4 of 9, Running, runs last, whatever became of the others',
    ])
    expect(wrapper.findAll('g.node').map((g) => g.attributes('aria-pressed'))).toEqual(['true', 'false', 'false', 'false', 'false'])
    await wrapper.get('[data-step=publish]').trigger('keydown', { key: 'Enter' })
    await wrapper.get('[data-step=tell]').trigger('keydown', { key: ' ' })
    await wrapper.get('[data-step=tell]').trigger('keydown', { key: 'Tab' })
    await wrapper.get('[data-step=build]').trigger('click')
    expect(wrapper.emitted('select')).toEqual([['publish'], ['tell'], ['build']])
    expect(wrapper.findAll('.words').map((w) => w.text())).toEqual(['success', 'skipped', 'failure'])
  })

  it('is scrolled until the chosen step is seen, and no further', async () => {
    const chain = Array.from({ length: 9 }, (_, i) => step(`s${i}`, i > 0 ? [`s${i - 1}`] : []))
    const graph = mount(GraphView, { props: { steps: chain, label: 'chain', selectable: true, selected: 's8' }, attachTo: document.body })
    const box = graph.get('.scroll').element
    const end = box.scrollLeft
    expect(end).toBeGreaterThan(8 * WIDTH)
    await graph.setProps({ selected: 's0' })
    expect(box.scrollLeft).toBeLessThan(WIDTH)
    await graph.setProps({ selected: 'nobody' })
    expect(box.scrollLeft).toBeLessThan(WIDTH)
    await graph.setProps({ selected: 's8' })
    expect(box.scrollLeft).toBe(end)
    graph.unmount()
  })

  it('is a list at first where it has more than 60 steps, and on demand', async () => {
    const many = Array.from({ length: 61 }, (_, i) => step(`s${i}`))
    const wrapper = mount(StepGraph, { props: { steps: many, label: 'Steps' } })
    expect(wrapper.findAll('tbody tr')).toHaveLength(61)
    const few = mount(StepGraph, { props: { steps: release, states, label: 'Steps', selectable: true } })
    expect(few.find('table').exists()).toBe(false)
    await vi.waitFor(() => expect(few.findAll('g.node')).toHaveLength(5))
    await few.get('input[value=list]').setValue()
    expect(few.findAll('tbody tr').map((r) => r.text())).toContain('publishHTTPHeldneeds build, approve (success or skipped)')
    await few.findAll('tbody button')[3]?.trigger('click')
    expect(few.emitted('select')).toEqual([['roll-back']])
  })

  it('shows a name as the text that it is', async () => {
    const wrapper = mount(GraphView, { props: { steps: [step('<b>x</b>')], label: 'Steps' } })
    expect(wrapper.get('tspan.name').text()).toBe('<b>x</b>')
  })
})

it('says what a step needs', () => {
  expect(needsText(step('a', ['b', 'c'], { join: 'ANY' }))).toBe('needs one of b, c')
  expect(needsText(step('a'))).toBe('')
  expect(stateOf({ state: 'FAILED', held: true })).toBe('HELD')
})
