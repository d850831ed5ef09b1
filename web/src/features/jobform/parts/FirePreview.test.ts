import { afterEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h, provide, reactive, ref } from 'vue'
import { setLanguage } from '@/shared/text'
import { useForm } from '@/shared/ui/form'
import { json, mountAt, serve } from '@/test/mount'
import { newJob } from '../model/job'
import { formKey } from './context'
import FirePreview from './FirePreview.vue'

/** The preview in the form of a job, beside a server that answers it, and the words that it gives to the form. */
async function show(answer: (request: Request) => Response) {
  const calls = serve({ 'POST /api/v1/schedules/preview': answer })
  const words = ref('')
  const { wrapper } = await mountAt(defineComponent(() => {
    const sample = ref({ time: '', zone: 'UTC', jobName: '', group: '', owner: '', shardTotal: 1, params: {} })
    provide(formKey, { job: reactive(newJob('UTC')), form: useForm([]), shown: [], editing: false, sample, fires: ref<readonly string[]>([]), words })
    return () => h(FirePreview)
  }))
  return { wrapper, calls, words }
}

afterEach(() => setLanguage('en'))

describe('the words about a schedule', () => {
  it('are the server\'s, in the language of the user', async () => {
    const says = { en: 'at 02:00 every day', zh: '每天 02:00' }
    const { words } = await show((request) =>
      json({ fireTimes: [], description: says[new URL(request.url).searchParams.get('lang') as 'en' | 'zh'] }))
    await vi.waitFor(() => expect(words.value).toBe(says.en), 5_000)
    await setLanguage('zh-CN')
    await vi.waitFor(() => expect(words.value).toBe(says.zh), 5_000)
  })

  it('are none for a refused schedule, whose refusal stands in their place', async () => {
    const errors = [{ field: 'schedule.cronExpression', code: 'invalid', message: 'has 5 fields; QUARTZ has 6 or 7' }]
    const { wrapper, words } = await show(() => json({ code: 'validation', detail: 'wrong', status: 422, errors }, 422))
    await vi.waitFor(() => expect(wrapper.get('.bad').text()).toBe('has 5 fields; QUARTZ has 6 or 7'), 5_000)
    expect(words.value).toBe('')
  })
})
