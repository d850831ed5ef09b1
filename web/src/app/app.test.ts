import { flushPromises } from '@vue/test-utils'
import { defineComponent, h } from 'vue'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { json, mountAt, serve, signInAs } from '@/test/mount'
import { features, navigation, routes } from './features'
import { helpOpen, paletteOpen, useKeyboard } from './keyboard'
import CommandPalette from './palette/CommandPalette.vue'
import { match } from './palette/match'
import { newRouter, nextOf } from './router'

beforeEach(() => {
  paletteOpen.value = helpOpen.value = false
  serve({})
})

describe('features', () => {
  it('have names, addresses and keys of their own', () => {
    const unique = (all: unknown[]) => expect(new Set(all).size).toBe(all.length)
    const nav = features.flatMap((f) => f.nav ?? [])
    unique(routes.map((r) => r.name))
    unique(routes.map((r) => r.path))
    unique(nav.flatMap((i) => (i.key ? [i.key] : [])))
    unique(nav.map((i) => `${i.section} ${i.order}`))
    for (const item of nav) expect(routes.map((r) => r.name), item.title).toContain(item.route)
  })

  it('show in the rail what one may see', async () => {
    await signInAs(['job:read'])
    expect(navigation().flatMap((s) => s.items).map((i) => i.route)).toContain('nodes')
    await signInAs(['self'])
    expect(navigation()).toEqual([])
  })
})

describe('the router', () => {
  it('goes back only within the console', () => {
    const router = newRouter()
    const next = (to: string) => nextOf(router.resolve({ path: '/sign-in', query: { next: to } }))
    expect(next('/nodes?x=1')).toBe('/nodes?x=1')
    for (const evil of ['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)']) expect(next(evil)).toBe('/')
    // Pages on the way are no place to go to; what they lead to is.
    for (const way of ['/password', '/password/', '/password?next=/password', '/sign-in?x=1']) expect(next(way)).toBe('/')
    expect(next('/password?next=%2Fnodes%3Fx%3D1')).toBe('/nodes?x=1')
  })
})

describe('who has a password of somebody else', () => {
  it('chooses another one first', async () => {
    await signInAs(['self', 'account', 'job:read'], null, { mustChangePassword: true })
    const router = newRouter()
    await router.push('/nodes?x=1')
    expect(router.currentRoute.value.fullPath).toBe('/password?next=/nodes?x=1')
    await signInAs(['self', 'account', 'job:read'])
    await router.push('/sign-in?next=/password?next=/nodes')
    expect(router.currentRoute.value.name).toBe('nodes')
  })
})

describe('the keyboard', () => {
  async function console() {
    await signInAs(['job:read'])
    return mountAt(defineComponent(() => {
      useKeyboard()
      return () => h('input')
    }))
  }
  const press = (key: string, target: EventTarget = document.body) =>
    target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))

  it('opens search and help, and goes to places', async () => {
    const { router } = await console()
    press('/')
    expect(paletteOpen.value).toBe(true)
    paletteOpen.value = false
    press('?')
    expect(helpOpen.value).toBe(true)
    helpOpen.value = false
    press('g')
    press('n')
    await vi.waitFor(() => expect(router.currentRoute.value.name).toBe('nodes'))
  })

  it('leaves somebody who types alone', async () => {
    const { wrapper, router } = await console()
    for (const key of ['/', '?', 'g', 'n']) press(key, wrapper.get('input').element)
    await flushPromises()
    expect([paletteOpen.value, helpOpen.value, router.currentRoute.value.path]).toEqual([false, false, '/'])
  })
})

describe('the palette', () => {
  it('ranks what begins so above what only holds the letters', () => {
    expect([match('Nodes', 'no'), match('Dead nodes', 'no'), match('Cannot', 'no'), match('Nightly orders', 'no'), match('Jobs', 'no')])
      .toEqual([4, 3, 2, 1, 0])
  })

  it('finds pages and jobs, and goes to them', async () => {
    const job = { id: '7', name: 'nightly <b>bill</b>', group: 'billing', status: 'PAUSED' }
    const calls = serve({ 'GET /api/v1/jobs': () => json({ items: [job], nextCursor: null }) })
    await signInAs(['job:read'])
    const { wrapper, router } = await mountAt(CommandPalette)
    paletteOpen.value = true
    await flushPromises()
    const field = wrapper.get('[role=combobox]')
    await field.setValue('nod')
    expect(wrapper.get('[role=option]').text()).toContain('Nodes')
    await field.setValue('night')
    await vi.waitFor(() => expect(wrapper.get('[role=option]').text()).toContain('nightly <b>bill</b>'))
    expect(new URL(calls.at(-1)?.url ?? '').searchParams.get('name')).toBe('night')
    await field.trigger('keydown', { key: 'Enter' })
    await vi.waitFor(() => expect(router.currentRoute.value.path).toBe('/jobs/7'))
    expect(paletteOpen.value).toBe(false)
  })
})
