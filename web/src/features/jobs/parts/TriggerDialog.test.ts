import { config, flushPromises } from '@vue/test-utils'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Problem } from '@/shared/api/problem'
import type { Model } from '@/shared/api/types'
import { setLanguage } from '@/shared/text'
import { mountAt } from '@/test/mount'
import TriggerDialog from './TriggerDialog.vue'

const declare = (name: string, type: Model<'ParameterType'>, more: Partial<Model<'JobParameter'>> = {}): Model<'JobParameter'> =>
  ({ name, type, default: null, description: '', required: false, values: [], ...more })

async function ask(declared: Model<'JobParameter'>[], act: ReturnType<typeof vi.fn>, jobZone?: string) {
  const { wrapper } = await mountAt(TriggerDialog, '/', { props: { modelValue: true, title: 'Trigger it?', declared, act, ...(jobZone && { jobZone }) } })
  await flushPromises()
  const dialog = document.querySelector('[role=dialog]') as HTMLElement
  const field = (id: string) => dialog.querySelector(`#param-${id}`) as HTMLInputElement
  const type = (at: HTMLInputElement, text: string) => {
    at.value = text
    at.dispatchEvent(new Event('input'))
  }
  const send = async () => {
    dialog.querySelector('form')?.dispatchEvent(new Event('submit', { cancelable: true }))
    await flushPromises()
  }
  return { wrapper, dialog, field, type, send }
}

// A list of choices measures itself, which no document without a layout can answer.
beforeAll(async () => {
  config.global.stubs = { ElSelect: true, ElOption: true }
  await setLanguage('en')
})
afterAll(() => {
  config.global.stubs = {}
})

describe('the question before a run', () => {
  const declared = [
    declare('day', 'DATE', { required: true, description: '<b>which</b> day' }), declare('count', 'INTEGER', { default: 3 }), declare('share', 'NUMBER'),
    declare('at', 'DATETIME', { default: '2026-11-20T00:00:05Z' }), declare('note', 'STRING'), declare('mode', 'ENUM', { values: ['fast', 'slow'], default: 'fast' }),
  ]

  it('has a field for each parameter, of its type, with its default', async () => {
    const { wrapper, dialog, field } = await ask(declared, vi.fn(), 'Asia/Shanghai')
    expect(['day', 'count', 'share', 'at', 'note'].map((name) => [field(name).type, field(name).value])).toEqual([
      ['date', ''], ['number', '3'], ['number', ''], ['datetime-local', '2026-11-20T08:00:05'], ['text', ''],
    ])
    expect(field('day').getAttribute('aria-required')).toBe('true')
    expect(dialog.textContent).toContain('day, required')
    expect(dialog.textContent).toContain('<b>which</b> day')
    expect(dialog.textContent).toContain('Empty: 3')
    expect(dialog.textContent).toContain('by the clock of Asia/Shanghai')
    wrapper.unmount()
  })

  it('sends values of the types, and asks again at the fields that the server refuses', async () => {
    const refusal = new Problem(422, 'invalid', 'wrong fields', [{ field: 'params.day', code: 'required', message: 'give a day' }])
    const act = vi.fn().mockRejectedValueOnce(refusal).mockResolvedValue(undefined)
    const { wrapper, dialog, field, type, send } = await ask(declared, act, 'Asia/Shanghai')
    await send()
    expect(dialog.querySelector('[role=alert]')?.textContent).toBe('give a day')
    expect(field('day').getAttribute('aria-invalid')).toBe('true')
    type(field('day'), '2026-11-20')
    type(field('count'), '7')
    await send()
    expect(act.mock.calls[1]?.[0]).toEqual({ params: { day: '2026-11-20', count: 7, at: '2026-11-20T00:00:05.000Z', mode: 'fast' } })
    expect(act.mock.calls[0]?.[1]).not.toBe(act.mock.calls[1]?.[1])
    expect(wrapper.emitted('update:modelValue')).toEqual([[false]])
    wrapper.unmount()
  })

  it('takes JSON where the job declares nothing, and refuses what is no object', async () => {
    const act = vi.fn().mockResolvedValue(undefined)
    const { wrapper, dialog, type, send } = await ask([], act)
    expect(dialog.querySelector('details')).toBeNull()
    const json = dialog.querySelector('textarea') as unknown as HTMLInputElement
    type(json, '[1]')
    await send()
    expect(act).not.toHaveBeenCalled()
    type(json, '{"a": 1}')
    await send()
    expect(act.mock.calls[0]?.[0]).toEqual({ params: { a: 1 } })
    wrapper.unmount()
  })

  it('may name a planned time by the clock of the job, and a delay', async () => {
    const act = vi.fn().mockResolvedValue(undefined)
    const { wrapper, dialog, type, send } = await ask([], act, 'Asia/Shanghai')
    const [planned, delay] = [...dialog.querySelectorAll('details input')] as HTMLInputElement[]
    if (planned && delay) {
      type(planned, '2026-11-20T08:00')
      type(delay, '60')
    }
    await send()
    expect(act.mock.calls[0]?.[0]).toEqual({ params: {}, scheduledTime: '2026-11-20T00:00:00.000Z', delaySec: 60 })
    wrapper.unmount()
  })
})
