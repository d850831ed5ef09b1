import { mount } from '@vue/test-utils'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hasText, setLanguage } from '@/shared/text'
import { shapes } from './shapes'
import { lookOf, statuses, wordOf, type Kind } from './status'
import StatusTag from './StatusTag.vue'

const document = JSON.parse(readFileSync('../api/openapi/openapi.json', 'utf8')) as {
  components: { schemas: Record<string, { enum?: string[]; properties?: Record<string, { enum?: string[] }> }> }
}
const schemas = document.components.schemas

/** The states that the document of the API names, by what has them. */
const documented: [Kind, string[] | undefined][] = [
  ['execution', schemas['Status']?.enum],
  ['execution', schemas['Fire']?.properties?.['outcome']?.enum],
  ['job', schemas['JobStatus']?.enum],
  ['node', schemas['NodeStatus']?.enum],
  ['alert', schemas['alert.Status']?.enum],
  ['level', schemas['alert.Level']?.enum],
  ['delivery', schemas['AlertDelivery']?.properties?.['state']?.enum],
  ['delivery', schemas['AlertDelivery']?.properties?.['result']?.enum],
  ['delivery', schemas['alert.ActionState']?.enum],
  ['backfill', schemas['BackfillStatus']?.enum],
  ['step', schemas['WorkflowStep']?.properties?.['state']?.enum],
]

describe('states', () => {
  it.each(documented)('of %s all have a shape and words', async (kind, states) => {
    expect(states?.length).toBeGreaterThan(0)
    for (const language of ['en', 'zh-CN'] as const) {
      await setLanguage(language)
      for (const state of states ?? []) {
        expect(Object.keys(statuses[kind]), state).toContain(state)
        expect(shapes[lookOf(kind, state).shape]).toBeDefined()
        expect(hasText(wordOf(kind, state)), state).toBe(true)
      }
    }
  })

  it.each(Object.keys(statuses) as Kind[])('of %s differ in shape, and not by colour alone', (kind) => {
    const seen = Object.entries(statuses[kind])
      .filter(([state]) => kind !== 'delivery' || !['DONE', 'SUPPRESSED'].includes(state))
      .map(([, look]) => look.shape)
    expect(new Set(seen).size).toBe(seen.length)
  })

  it('of a newer server are shown by name', () => {
    expect(mount(StatusTag, { props: { kind: 'job', state: 'FROZEN' } }).text()).toBe('FROZEN')
  })

  it('say their word also where only the shape is seen', () => {
    const tag = mount(StatusTag, { props: { kind: 'execution', state: 'DEAD', wordless: true } })
    expect(tag.text()).toBe('Dead letter')
    expect(tag.attributes('title')).toBe('Dead letter')
  })
})
