import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { json, mountAt, serve, signInAs } from '@/test/mount'
import SettingsPage from './pages/SettingsPage.vue'
import type { Setting } from './queries'
import { plain, sectionsOf, valueOf } from './settings'
import texts from './texts/en'

const setting = (name: string, more: Partial<Setting> = {}): Setting => ({
  name, variable: `PS_${name.toUpperCase()}`, value: 1, secret: false, source: 'DEFAULT', takes: 'text', meaning: 'What it is.', ...more,
})

describe('settings', () => {
  it('stand by their parts, narrowed by text and source', () => {
    const items = [setting('profile'), setting('log.level', { source: 'FILE' }), setting('log.format')]
    expect(sectionsOf(items, '', false).map((s) => [s.name, s.items.length])).toEqual([['general', 1], ['log', 2]])
    expect(sectionsOf(items, '', true).map((s) => s.items[0]?.name)).toEqual(['log.level'])
    expect(sectionsOf(items, 'ps_LOG.for', false)[0]?.items.map((s) => s.name)).toEqual(['log.format'])
    expect(sectionsOf(items, 'nothing', false)).toEqual([])
  })

  it('have values as people write them', () => {
    expect([null, [], ['a', 'b'], { zone: 'a' }, false, 0].map(valueOf)).toEqual(['', '', 'a, b', 'zone=a', 'false', '0'])
    expect(plain('empty is none ([events](events.md)), see `a.b`')).toBe('empty is none (events), see a.b')
  })

  it('have a word for each part, and each that says how long things are kept', () => {
    const names = [...readFileSync('../docs/settings.md', 'utf8').matchAll(/^\| `([\w.]+)`/gm)].map(([, name = '']) => name)
    const parts = sectionsOf(names.map((name) => setting(name)), '', false).map((s) => s.name)
    expect(Object.keys(texts.part).sort()).toEqual([...parts].sort())
    const kept = names.filter((name) => name.startsWith('retention.')).map((name) => name.slice('retention.'.length))
    expect(Object.keys(texts.keep).sort()).toEqual(kept.sort())
  })

  it('show what is degraded with its reason, and no secret', async () => {
    serve({
      'GET /api/v1/settings': () => json({ nodeId: 'n1', items: [setting('redis.password', { secret: true, value: '***' }), setting('retention.auditDays', { value: 42 })] }),
      'GET /version': () => json({ version: 'v9', commit: 'abc', buildTime: '', goVersion: 'go1' }),
      'GET /readyz': () => json({ status: 'ready', degraded: [{ part: 'redis', reason: 'it does not answer', since: '2026-11-22T00:00:00Z' }] }),
      'GET /api/v1/monitor/overview': () => json({ degraded: ['redis', 'clock'] }),
    })
    await signInAs(['user:admin', 'job:read'])
    const { wrapper } = await mountAt(SettingsPage, '/settings')
    await vi.waitFor(() => expect(wrapper.text()).toContain('2 parts do not work'))
    expect(wrapper.text()).toContain('it does not answer')
    expect(wrapper.text()).toContain('42 days')
    expect(wrapper.text()).toContain('set, not shown')
    expect(wrapper.text()).not.toContain('***')
  })

  it('say why a node is not ready', async () => {
    serve({
      'GET /api/v1/settings': () => json({ nodeId: 'n1', items: [] }),
      'GET /readyz': () => json({ code: 'not_ready', detail: 'the store does not answer', status: 503, degraded: [] }, 503),
      'GET /api/v1/monitor/overview': () => json({ degraded: [] }),
    })
    await signInAs(['user:admin'])
    const { wrapper } = await mountAt(SettingsPage, '/settings')
    await vi.waitFor(() => expect(wrapper.text()).toContain('the store does not answer'), 10_000)
  })
})
