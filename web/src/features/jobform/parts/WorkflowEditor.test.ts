import { VueQueryPlugin } from '@tanstack/vue-query'
import { mount } from '@vue/test-utils'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { computed, reactive, ref } from 'vue'
import { newQueryClient } from '@/shared/api/queries'
import { Problem } from '@/shared/api/problem'
import { useForm } from '@/shared/ui/form'
import { json, serve, type Answers } from '@/test/mount'
import { newJob } from '../model/job'
import type { Sample } from '../model/placeholders'
import { formKey } from './context'
import WorkflowEditor from './WorkflowEditor.vue'

const path = 'POST /api/v1/workflows/validate'
const good = () => json({ items: [{ group: '', name: 'draft', steps: 2, good: true, faults: [], warnings: [] }] })

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  return () => vi.useRealTimers()
})

function show(answers: Answers) {
  const calls = serve(answers)
  const job = reactive(newJob('UTC'))
  job.jobType = 'WORKFLOW'
  const shown = reactive<string[]>([])
  const form = useForm(shown)
  const wrapper = mount(WorkflowEditor, {
    global: {
      plugins: [[VueQueryPlugin, { queryClient: newQueryClient() }]],
      provide: { [formKey as symbol]: { job, form, shown, editing: false, sample: computed(() => ({}) as Sample), fires: ref([]), words: ref('') } },
      stubs: { CodeEditor: { template: '<div />', methods: { goTo: () => undefined } } },
    },
  })
  const bodies = () => Promise.all(calls.map((c) => c.clone().json() as Promise<Record<string, unknown>>))
  return { wrapper, job, form, shown, calls, bodies }
}

describe('the editor of a workflow', () => {
  it('asks the server once nobody types, and shows each fault with its line', async () => {
    const { wrapper, job, bodies } = show({
      [path]: async (request) => (JSON.stringify(await request.json()).includes('loda')
        ? json({ items: [{ group: '', name: 'draft', steps: 1, good: false, faults: [{ field: 'steps[0].needs[0]', code: 'unknown', message: 'is no step; name one of them' }], warnings: [] }] })
        : good()),
    })
    await vi.advanceTimersByTimeAsync(10)
    await vi.waitFor(() => expect(wrapper.text()).toContain('The server finds nothing wrong.'))
    job.workflow.yaml = 'steps:\n- name: a\n  needs: [lod'
    await vi.advanceTimersByTimeAsync(400)
    job.workflow.yaml = 'steps:\n- name: a\n  needs:\n  - loda\n  wait: {forSec: 1}\n'
    await vi.advanceTimersByTimeAsync(599)
    expect(await bodies()).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(2)
    await vi.waitFor(() => expect(wrapper.get('.el-alert--error').text()).toMatch(/one to mend\s*Line 4\s*steps\[0\]\.needs\[0\]\s*is no step/))
    expect(await bodies()).toMatchObject([{ name: 'draft' }, { name: 'draft', steps: [{ name: 'a', needs: ['loda'], wait: { forSec: 1 } }] }])
    expect(Object.keys((await bodies())[1] ?? {})).toEqual(['name', 'steps'])
  })

  it('gives the form what it read, and nothing while it cannot be read', async () => {
    const { wrapper, job, calls } = show({ [path]: good })
    job.workflow.yaml = 'steps:\n- name: a\n  wait: {forSec: 1'
    await vi.advanceTimersByTimeAsync(5_000)
    expect(job.workflow.data).toBeNull()
    expect(wrapper.get('.el-alert--error').text()).toContain('This is no YAML as it is read here')
    expect(calls.length).toBeLessThanOrEqual(1)
    job.workflow.yaml = 'steps:\n- name: a\n  wait: {forSec: 1}\n'
    await vi.advanceTimersByTimeAsync(5)
    expect(job.workflow.data).toEqual({ steps: [{ name: 'a', wait: { forSec: 1 } }] })
    expect(wrapper.find('.el-alert--error').exists()).toBe(false)
  })

  it('shows what saving refused at its place, until the text changes', async () => {
    const { wrapper, job, form, shown } = show({ [path]: good })
    await vi.advanceTimersByTimeAsync(10)
    expect(shown).toEqual(['jobData'])
    form.problem.value = new Problem(422, 'validation', 'no', [{ field: 'jobData.steps[1].http.url', code: 'x', message: 'is no URL' }])
    await vi.advanceTimersByTimeAsync(1)
    expect(wrapper.get('.el-alert--error').text()).toMatch(/Line 10\s*steps\[1\]\.http\.url\s*is no URL/)
    expect(form.rest.value).toEqual([])
    job.workflow.yaml += '\n'
    await vi.advanceTimersByTimeAsync(1)
    expect(wrapper.find('.el-alert--error').exists()).toBe(false)
    wrapper.unmount()
    expect(shown).toEqual([])
  })

  it('says where the server could not be asked', async () => {
    const { wrapper } = show({ [path]: () => json({ code: 'forbidden', detail: 'ask for job:write', status: 403 }, 403) })
    await vi.advanceTimersByTimeAsync(10)
    await vi.waitFor(() => expect(wrapper.text()).toContain('It was not checked: ask for job:write'))
  })
})
