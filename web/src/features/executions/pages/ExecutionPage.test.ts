import { describe, expect, it, vi } from 'vitest'
import type { Model } from '@/shared/api/types'
import { setLanguage } from '@/shared/text'
import { json, mountAt, serve } from '@/test/mount'
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

  it('says nothing of that where nothing is known', async () => {
    const text = await shown('en', null)
    expect(text).toContain('settle')
    expect(text).not.toMatch(/Used|CPU/)
  })
})
