import { flushPromises } from '@vue/test-utils'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { storedJob } from '@/test/job'
import { json, mountAt, serve, signInAs, type Answers } from '@/test/mount'
import JobActions from './JobActions.vue'

const job = storedJob({ id: '7', name: 'settle', group: 'pay' })

const press = async (name: string, inside: ParentNode = document) => {
  [...inside.querySelectorAll('button')].filter((b) => b.textContent?.trim() === name).at(-1)?.click()
  await flushPromises()
}

/** Deletes the job by its name, and returns the message about it. */
async function deleted(undelete: Answers[string]) {
  const calls = serve({
    'GET /api/v1/jobs/7': () => json(job), 'DELETE /api/v1/jobs/7': () => new Response(null, { status: 204 }),
    'POST /api/v1/jobs/7/undelete': undelete,
  })
  const { wrapper, router } = await mountAt(JobActions, '/jobs/7', { props: { job } })
  await press('Delete')
  const dialog = document.querySelector('[role=dialog][aria-label="Delete settle?"]') as HTMLElement
  const field = dialog.querySelector('input') as HTMLInputElement
  field.value = 'settle'
  field.dispatchEvent(new Event('input'))
  await flushPromises()
  dialog.querySelector('form')?.dispatchEvent(new Event('submit', { cancelable: true }))
  await vi.waitFor(() => expect(router.currentRoute.value.name).toBe('jobs'))
  // The page of the job is gone by now.
  wrapper.unmount()
  const message = [...document.querySelectorAll<HTMLElement>('.el-message')].at(-1) as HTMLElement
  expect(message.textContent).toContain('settle is deleted')
  return { calls, router, message }
}

describe('a job that was deleted', () => {
  beforeEach(() => signInAs(['job:read', 'job:write'], { pay: 'operator' }))

  it('comes back by the message about it', async () => {
    const { calls, router, message } = await deleted(() => json({ ...job, status: 'PAUSED' }))
    await press('Bring it back', message)
    await vi.waitFor(() => expect(router.currentRoute.value.path).toBe('/jobs/7'))
    expect(calls.map((c) => `${c.method} ${new URL(c.url).pathname}`).at(-1)).toBe('POST /api/v1/jobs/7/undelete')
    expect(document.body.textContent).toContain('settle is back')
  })

  it('stays away where its name is taken, and says so', async () => {
    const { router, message } = await deleted(() => json({ status: 409, code: 'name_taken', title: 'Conflict', detail: 'another job of pay is named settle' }, 409))
    await press('Bring it back', message)
    await vi.waitFor(() => expect(document.body.textContent).toContain('another job of pay is named settle'))
    expect(router.currentRoute.value.path).not.toBe('/jobs/7')
  })

  it('is not deleted, and so not brought back, by who may not write in its group', async () => {
    await signInAs(['job:read', 'job:write'], { pay: 'viewer' })
    serve({})
    const { wrapper } = await mountAt(JobActions, '/jobs/7', { props: { job } })
    expect(wrapper.text()).not.toContain('Delete')
  })
})

describe('a job that is triggered by hand', () => {
  it.each([['HTTP', '/executions/e1'], ['WORKFLOW', '/workflow-runs/e1']] as const)('of the type %s leads to %s', async (jobType, path) => {
    const calls = serve({ 'POST /api/v1/jobs/7/trigger': () => json({ executionIds: ['e1'] }, 202) })
    await signInAs(['job:read', 'job:run', 'execution:read'])
    const { wrapper, router } = await mountAt(JobActions, '/jobs/7', { props: { job: storedJob({ id: '7', name: 'settle', group: 'pay', jobType }) } })
    await press('Trigger')
    const dialog = [...document.querySelectorAll('[role=dialog][aria-label="Trigger settle?"]')].at(-1)
    dialog?.querySelector('form')?.dispatchEvent(new Event('submit', { cancelable: true }))
    await vi.waitFor(() => expect(router.currentRoute.value.path).toBe(path))
    expect(calls.map((c) => `${c.method} ${new URL(c.url).pathname}`)).toEqual(['POST /api/v1/jobs/7/trigger'])
    wrapper.unmount()
  })
})
