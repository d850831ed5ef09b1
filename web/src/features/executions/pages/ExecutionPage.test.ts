import { describe, expect, it, vi } from 'vitest'
import type { Model } from '@/shared/api/types'
import { setLanguage } from '@/shared/text'
import { json, mountAt, serve, signInAs } from '@/test/mount'
import { isInline, stepOf } from '../model/step'
import ExecutionPage from './ExecutionPage.vue'

const run = (usage: Model<'Usage'> | null): Model<'ExecutionDetail'> => ({
  id: 'e', jobId: 'j', jobName: 'settle', status: 'SUCCESS', reason: '', trigger: 'SCHEDULE', triggeredBy: 'schedule', triggeredByToken: null, fireKey: '',
  scheduledTime: '2026-11-20T08:00:00Z', startTime: null, endTime: null, durationMs: 1_500, latenessMs: 3, attempt: 2, retryCount: 1, nodeId: 'n',
  waitsFor: '', waitsOn: '', detached: false, deadline: null, epoch: 1, fencingToken: 2, priority: 5, progress: 100, errorMessage: '', result: '',
  retryOf: null, startedBy: null, started: [], jobVersion: 1, shardIndex: 0, shardTotal: 1, skipFrom: null, skipTo: null, skipCount: 0, createTime: '2026-11-20T08:00:00Z',
  updateTime: '2026-11-20T08:00:01Z', params: null, checkpoint: '', output: null, usage,
})
const attempt = (n: number, usage: Model<'Usage'> | null): Model<'Attempt'> => ({
  attempt: n, status: 'SUCCESS', reason: '', nodeId: 'n', startTime: null, endTime: null, errorMessage: '', progress: 100, result: '', output: null, usage,
})

async function shown(language: 'en' | 'zh-CN', usage: Model<'Usage'> | null): Promise<string> {
  await setLanguage(language)
  serve({
    'GET /api/v1/executions/e': () => json(run(usage)),
    'GET /api/v1/executions/e/attempts': () => json({ items: [attempt(1, usage && { cpuMs: 40, peakKb: 900 }), attempt(2, usage)], nextCursor: null }),
  })
  const { wrapper } = await mountAt(ExecutionPage, '/?tab=output', { props: { id: 'e' } })
  await vi.waitFor(() => expect(wrapper.text()).toContain(language === 'en' ? 'Attempt 2' : '第 2 次尝试'))
  const text = wrapper.text()
  wrapper.unmount()
  return text
}

describe('the page of a run', () => {
  it('shows what a command took, and each of its attempts', async () => {
    const took = { cpuMs: 1_200, peakKb: 35 << 10 }
    const english = await shown('en', took)
    expect(english.match(/CPU 1.2 s, memory 35 MiB/g)).toHaveLength(2)
    expect(english).toContain('CPU 40 ms, memory 900 KiB')
    const chinese = await shown('zh-CN', took)
    expect(chinese).toContain('资源用量')
    expect(chinese.match(/CPU 1.2 秒，内存 35 MiB/g)).toHaveLength(2)
  })

  const links = async (one: Partial<Model<'ExecutionDetail'>>, type = 'HTTP') => {
    const calls = serve({
      'GET /api/v1/executions/e': () => json({ ...run(null), startTime: '2026-11-20T08:00:00Z', ...one }),
      'GET /api/v1/executions/e/attempts': () => json({ items: [], nextCursor: null }),
      'GET /api/v1/jobs/j': () => json({ jobType: type, routing: {} }),
    })
    await signInAs(['execution:read', 'execution:write'])
    const { wrapper } = await mountAt(ExecutionPage, '/?tab=output', { props: { id: 'e' } })
    await vi.waitFor(() => expect(wrapper.text()).toContain('About'))
    await vi.waitFor(() => expect(calls.some((c) => c.url.endsWith('/jobs/j')) || isInline(one.jobId ?? '')).toBe(true))
    await new Promise((done) => setTimeout(done))
    const found = { links: wrapper.findAll('a').map((a) => a.attributes('href')), buttons: wrapper.findAll('button').map((b) => b.text()), text: wrapper.text(), asked: calls.map((c) => new URL(c.url).pathname) }
    wrapper.unmount()
    return found
  }

  it('leads from a step to its workflow run, where it is repeated', async () => {
    const inline = '00000000-0000-8123-8000-000000000000'
    const step = await links({ jobId: inline, jobName: '', fireKey: 'run:0190-r:score[17]~2' })
    expect(step.links).toContain('/workflow-runs/0190-r?step=score')
    expect(step.text).toContain('Step score[17]~2')
    expect(step.links).not.toContain(`/jobs/${inline}`)
    expect(step.asked).not.toContain(`/api/v1/jobs/${inline}`)
    expect(step.buttons).not.toContain('Run again')
    const named = await links({ fireKey: 'run:0190-r:call' })
    expect(named.links).toEqual(expect.arrayContaining(['/jobs/j', '/workflow-runs/0190-r?step=call']))
  })

  it('leads from the root to its steps, and from another run nowhere', async () => {
    await vi.waitFor(async () => expect((await links({}, 'WORKFLOW')).links).toContain('/workflow-runs/e'))
    const plain = await links({ fireKey: '2026-11-20T08:00:00Z' })
    expect(plain.links.filter((l) => l?.startsWith('/workflow-runs/'))).toEqual([])
    expect(plain.buttons).toContain('Run again')
  })

  it('reads a step from its key', () => {
    expect([stepOf('run:r:a-b'), stepOf('run:r:a[3]'), stepOf('run:r:a~2')].map((s) => [s?.run, s?.key, s?.name])).toEqual([['r', 'a-b', 'a-b'], ['r', 'a[3]', 'a'], ['r', 'a~2', 'a']])
    expect([stepOf(''), stepOf('next:1:e:x'), stepOf('run:'), stepOf('2026-11-20T08:00:00Z')]).toEqual([undefined, undefined, undefined, undefined])
  })

  it('says nothing of that where nothing is known', async () => {
    const text = await shown('en', null)
    expect(text).toContain('settle')
    expect(text).not.toMatch(/Used|CPU/)
  })
})
