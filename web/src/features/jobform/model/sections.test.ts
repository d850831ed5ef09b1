import { describe, expect, it } from 'vitest'
import { pathOf, problemsBySection, sectionOf } from './sections'

describe('fields', () => {
  it.each([
    ['name', 'what'], ['labels.team', 'what'], ['jobData.headers.X-A', 'runs'], ['jobClass', 'runs'], ['parameters[1].default', 'runs'],
    ['schedule.cronExpression', 'when'], ['schedule', 'when'], ['schedule.misfirePolicy', 'behaves'], ['retryPolicy.maxRetries', 'behaves'],
    ['routing.labels.zone', 'behaves'], ['alerts.onFailure[0]', 'told'], ['deadline.at', 'told'],
  ] as const)('%s stands in %s', (field, section) => expect(sectionOf(field)).toBe(section))

  it('are counted by section, also those of a document', () => {
    const p = (field: string) => ({ field, code: 'x', message: 'x' })
    expect(problemsBySection([p('name'), p('jobs[0].jobData.url'), p('schedule.at')])).toEqual({ what: 1, runs: 1, when: 1, behaves: 0, told: 0 })
    expect(pathOf('jobs[12].schedule.at')).toBe('schedule.at')
  })
})
