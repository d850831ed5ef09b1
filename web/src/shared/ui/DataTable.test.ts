import { flushPromises } from '@vue/test-utils'
import { createCommentVNode, defineComponent, h, reactive, ref, type Slots } from 'vue'
import { describe, expect, it, vi } from 'vitest'
import { Problem } from '@/shared/api/problem'
import { mountAt } from '@/test/mount'
import DataTable from './DataTable.vue'
import type { TableQuery } from './table'
import { useList } from './url'

interface Row { id: string; name: string }

const rows: Row[] = ['a', 'b', 'c', 'd'].map((id) => ({ id, name: `job ${id}` }))
const columns = [{ name: 'name', title: 'Name' }, { name: 'id', title: 'Id', align: 'right' as const }]

/** A page with a table over a query, and the state of its list. */
async function page(query: Partial<TableQuery<Row>>, address = '/list', cells: Slots = {}) {
  const state = reactive<TableQuery<Row>>({
    data: undefined, error: null, isPending: false, isFetching: false, refetch: vi.fn(), ...query,
  })
  const selected = ref<string[]>([])
  let list: ReturnType<typeof useList<{ q: string }>> | undefined
  const Page = defineComponent(() => {
    list = useList({ q: '' })
    // A component with a type parameter has no type that h takes.
    const table = DataTable as unknown as ReturnType<typeof defineComponent>
    return () => h(table, {
      columns, query: state, caption: 'Jobs', rowKey: (r: Row) => r.id, rowName: (r: Row) => r.name, list,
      rowTo: (r: Row) => `/jobs/${r.id}`, selectable: true, selected: selected.value,
      'onUpdate:selected': (next: string[]) => (selected.value = next),
    }, { empty: () => 'make the first job', ...cells })
  })
  const { wrapper, router } = await mountAt(Page, address)
  return { wrapper, router, state, selected, list: () => list as NonNullable<typeof list> }
}

describe('a table', () => {
  it('shows bones while it loads, and says so', async () => {
    const { wrapper } = await page({ isPending: true })
    expect(wrapper.findAll('.bone').length).toBeGreaterThan(3)
    expect(wrapper.get('[role=status]').text()).toBe('Loading')
  })

  it('shows rows, and leads from the first cell', async () => {
    const { wrapper } = await page({ data: { items: rows } })
    expect(wrapper.findAll('tbody tr').map((r) => r.text())).toEqual(['job aa', 'job bb', 'job cc', 'job dd'])
    expect(wrapper.get('tbody a').attributes('href')).toBe('/jobs/a')
    expect(wrapper.get('caption').text()).toBe('Jobs')
  })

  it('leaves a cell empty whose slot shows nothing', async () => {
    const { wrapper } = await page({ data: { items: rows } }, '/list', { id: () => [createCommentVNode('v-if')] })
    expect(wrapper.findAll('tbody tr').map((r) => r.text())).toEqual(['job a', 'job b', 'job c', 'job d'])
  })

  it('says what to do where there is nothing, and clears filters where they hide everything', async () => {
    expect((await page({ data: { items: [] } })).wrapper.text()).toContain('make the first job')
    const { wrapper, list, router } = await page({ data: { items: [] } }, '/list?q=x')
    expect(wrapper.text()).toContain('Nothing matches these filters')
    await wrapper.get('button').trigger('click')
    await flushPromises()
    expect(list().filters.q).toBe('')
    expect(router.currentRoute.value.fullPath).toBe('/list')
  })

  it('looks on by itself while it found nothing, says how far it is, and stops', async () => {
    const { wrapper, router, state } = await page(
      { data: { items: [], nextCursor: 'c2', searchedUntil: '2026-03-01T08:00:00Z' } }, '/list?q=x')
    await flushPromises()
    expect(router.currentRoute.value.query).toEqual({ q: 'x', cursor: 'c2' })
    expect(wrapper.text()).toMatch(/Searching….*Looked at entries up to 2026-03-01 /)
    expect(wrapper.text()).not.toContain('Nothing matches these filters')
    await wrapper.findAll('button').find((b) => b.text() === 'Stop')?.trigger('click')
    state.data = { items: [], nextCursor: 'c3', searchedUntil: '2026-02-01T08:00:00Z' }
    await flushPromises()
    expect(router.currentRoute.value.query['cursor']).toBe('c2')
    expect(wrapper.text()).toContain('Nothing found so far')
    await wrapper.findAll('button').find((b) => b.text() === 'Go on')?.trigger('click')
    await flushPromises()
    expect(router.currentRoute.value.query['cursor']).toBe('c3')
    state.data = { items: [], nextCursor: null }
    await flushPromises()
    expect(wrapper.text()).toContain('Nothing matches these filters')
  })

  it('says how far back it looked where few rows match, and goes on', async () => {
    const { wrapper, router } = await page(
      { data: { items: rows, nextCursor: 'c2', searchedUntil: '2026-03-01T08:00:00Z' } }, '/list?q=x')
    expect(wrapper.get('nav [role=status]').text()).toMatch(/^Looked at entries until 2026-03-01 .* Go on for older ones\.$/)
    await wrapper.findAll('nav button').at(-1)?.trigger('click')
    await flushPromises()
    expect(router.currentRoute.value.query).toEqual({ q: 'x', cursor: 'c2' })
  })

  it('says why it could not load, and tries again', async () => {
    const { wrapper, state } = await page({ error: new Problem(503, 'unavailable', 'the store does not answer', [], 'r-1') })
    expect(wrapper.get('[role=alert]').text()).toContain('the store does not answer')
    expect(wrapper.text()).toContain('r-1')
    await wrapper.get('[role=alert] button').trigger('click')
    expect(state.refetch).toHaveBeenCalledOnce()
  })

  it('keeps its rows where a later load failed', async () => {
    const { wrapper } = await page({ data: { items: rows }, error: new Problem(0, 'offline', '') })
    expect(wrapper.findAll('tbody tr')).toHaveLength(4)
  })

  it('selects one, a range by Shift, and all', async () => {
    const { wrapper, selected } = await page({ data: { items: rows } })
    const boxes = () => wrapper.findAll('tbody input')
    expect(boxes()[0]?.attributes('aria-label')).toBe('Select job a')
    await boxes()[0]?.trigger('click')
    await boxes()[2]?.trigger('click', { shiftKey: true })
    expect([...selected.value].sort()).toEqual(['a', 'b', 'c'])
    expect(wrapper.text()).toContain('3 selected')
    await wrapper.get('thead input').trigger('change')
    expect([...selected.value].sort()).toEqual(['a', 'b', 'c', 'd'])
    await wrapper.get('thead input').trigger('change')
    expect(selected.value).toEqual([])
  })
})

describe('the pages of a list', () => {
  it('stand in the address, and go back', async () => {
    const { list, router, wrapper } = await page({ data: { items: rows, nextCursor: 'c2' } })
    await wrapper.findAll('nav button').at(-1)?.trigger('click')
    await flushPromises()
    expect(router.currentRoute.value.query).toEqual({ cursor: 'c2' })
    list().next('c3')
    await flushPromises()
    list().previous()
    await flushPromises()
    expect(router.currentRoute.value.query).toEqual({ cursor: 'c2' })
    router.back()
    await vi.waitFor(() => expect(list().cursor.value).toBe('c3'))
  })

  it('begin anew with another filter, as one step of the history', async () => {
    const { list, router } = await page({ data: { items: rows } }, '/list?cursor=c2')
    expect(list().cursor.value).toBe('c2')
    const pushed = vi.spyOn(router, 'push')
    list().filters.q = 'x'
    await flushPromises()
    expect(router.currentRoute.value.query).toEqual({ q: 'x' })
    expect(pushed).toHaveBeenCalledOnce()
  })

  it('leave one step of the history for a text that somebody types', async () => {
    const { list, router } = await page({ data: { items: rows } })
    const pushed = vi.spyOn(router, 'push')
    for (const q of ['n', 'ni', 'nig']) {
      list().filters.q = q
      await flushPromises()
    }
    expect(router.currentRoute.value.query).toEqual({ q: 'nig' })
    expect(pushed).toHaveBeenCalledOnce()
  })

  it('of a deep link are read with filter and cursor', async () => {
    const { list } = await page({ data: { items: rows } }, '/list?q=x&cursor=c9')
    expect([list().filters.q, list().cursor.value, list().filtered.value]).toEqual(['x', 'c9', true])
  })
})
