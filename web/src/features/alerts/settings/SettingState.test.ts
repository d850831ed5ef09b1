import { mount } from '@vue/test-utils'
import { afterAll, describe, expect, it } from 'vitest'
import { setLanguage } from '@/shared/text'
import type { Setting } from './queries'
import SettingState from './SettingState.vue'

const inMinutes = (n: number) => new Date(Date.now() + n * 60_000).toISOString()

function shown(more: Partial<Setting>, whole = false): string {
  const setting = { id: 'r', name: 'rule', group: null, enabled: true, version: 1, suspendedUntil: null, ...more } as Setting
  return mount(SettingState, { props: { setting, whole }, global: { stubs: { ElAlert: { props: ['title'], template: '<p>{{ title }} <slot /></p>' } } } }).text()
}

afterAll(() => setLanguage('en'))

describe.each([
  ['en', 'On', 'Off', 'Suspended until', 'ten minutes'],
  ['zh-CN', '启用', '停用', '已暂停', '十分钟'],
] as const)('a rule in %s', (language, on, off, suspended, why) => {
  it('is on, off, or suspended until a moment to come', async () => {
    await setLanguage(language)
    expect(shown({})).toBe(on)
    expect(shown({ enabled: false, suspendedUntil: inMinutes(5) })).toBe(off)
    expect(shown({ suspendedUntil: inMinutes(-1) })).toBe(on)
    expect(shown({ suspendedUntil: inMinutes(5) })).toMatch(new RegExp(`^${suspended}.*5`, 's'))
  })

  it('says on its page why, and nothing where it works', async () => {
    await setLanguage(language)
    expect(shown({}, true)).toBe('')
    const text = shown({ suspendedUntil: inMinutes(5) }, true)
    expect(text).toContain(suspended)
    expect(text).toContain(why)
  })
})
