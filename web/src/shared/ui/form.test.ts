import { describe, expect, it } from 'vitest'
import { Problem } from '@/shared/api/problem'
import { useForm } from './form'

const refused = new Problem(422, 'invalid', 'two fields are wrong', [
  { field: 'schedule.cronExpression', code: 'invalid', message: 'has six parts' },
  { field: 'jobData.headers.X-A', code: 'invalid', message: 'holds a line break' },
  { field: 'jobData.url', code: 'required', message: 'is needed' },
  { field: 'scheduleX', code: 'unknown', message: 'is not known' },
])

describe('a form', () => {
  it('gives each field its errors, also those below it, and keeps the rest', async () => {
    const form = useForm(['schedule.cronExpression', 'jobData', 'jobData.headers', 'schedule'])
    expect(await form.send(() => Promise.reject(refused))).toBe(false)
    expect(form.of('schedule.cronExpression')).toBe('has six parts')
    expect(form.of('jobData.headers')).toBe('holds a line break')
    expect(form.of('jobData')).toBe('is needed')
    expect(form.of('schedule')).toBe('')
    expect(form.rest.value).toEqual(['scheduleX: is not known'])
  })

  it('says a problem without fields as a whole, and forgets it with the next send', async () => {
    const form = useForm([])
    await form.send(() => Promise.reject(new Problem(409, 'conflict', 'it was changed')))
    expect(form.rest.value).toEqual(['it was changed'])
    expect(await form.send(() => Promise.resolve())).toBe(true)
    expect(form.rest.value).toEqual([])
  })

  it('sends once at a time', async () => {
    const form = useForm([])
    let sent = 0
    let end: () => void = () => undefined
    const first = form.send(() => new Promise<void>((resolve) => { sent++; end = resolve }))
    expect(await form.send(async () => void sent++)).toBe(false)
    end()
    expect(await first).toBe(true)
    expect(sent).toBe(1)
  })
})
