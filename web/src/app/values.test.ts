import { describe, expect, it } from 'vitest'
import access from '@/features/access/texts/en'
import alerts from '@/features/alerts/texts/en'
import executions from '@/features/executions/texts/en'
import jobform from '@/features/jobform/texts/en'
import policy from '@/features/jobform/texts/policy.en'
import jobs from '@/features/jobs/texts/en'
import settings from '@/features/settings/texts/en'
import statistics from '@/features/statistics/texts/en'
import { statuses, wordOf, type Kind } from '@/shared/status/status'
import shared from '@/shared/text/texts/en'
import type { Model, Query } from '@/shared/api/types'

/** True where both have the same names; else the ones that the texts lack, or that the API does not have. */
type Same<Texts, Values> = [keyof Texts] extends [Values]
  ? [Values] extends [keyof Texts] ? true : { lacks: Exclude<Values, keyof Texts> }
  : { unknown: Exclude<keyof Texts, Values> }

/** The compiler compares: this list does not compile where a value of the API has no word, or a word no value. */
const same: [
  Same<typeof executions.reasons, Exclude<Model<'Reason'>, ''>>,
  Same<typeof executions.triggers, Model<'Trigger'>>,
  Same<typeof jobs.triggers, Model<'Trigger'>>,
  Same<typeof jobs.types, Model<'JobType'>>,
  Same<typeof jobs.kind, Model<'Schedule'>['kind']>,
  Same<typeof jobs.paramTypes, Model<'ParameterType'>>,
  Same<typeof jobs.change, Model<'ChangeAction'>>,
  Same<typeof jobs.setting, Model<'ImportSetting'>['kind']>,
  Same<typeof jobs.exported, NonNullable<Query<'/api/v1/export'>['parts']>>,
  Same<typeof jobs.overlap, Model<'Job'>['overlapPolicy']>,
  Same<typeof jobs.misfire, Model<'Schedule'>['misfirePolicy']>,
  Same<typeof jobform.type, Model<'JobType'>>,
  Same<typeof jobform.kind, Model<'Schedule'>['kind']>,
  Same<typeof jobform.parameterType, Model<'ParameterType'>>,
  Same<typeof jobform.dialect, Model<'Schedule'>['dialect']>,
  Same<typeof jobform.dstGap, Model<'Schedule'>['dstGap']>,
  Same<typeof jobform.dstOverlap, Model<'Schedule'>['dstOverlap']>,
  Same<typeof policy.backoff, Model<'RetryPolicy'>['backoff']>,
  Same<typeof policy.overlap, Model<'Job'>['overlapPolicy']>,
  Same<typeof policy.misfire, Model<'Schedule'>['misfirePolicy']>,
  Same<typeof policy.nodeLoss, Model<'Job'>['onNodeLoss']>,
  Same<typeof policy.routing, Model<'Routing'>['strategy']>,
  Same<typeof access.role, Model<'Role'>>,
  Same<typeof alerts.action, Model<'alert.ActionKind'>>,
  Same<typeof alerts.channelType, Model<'alert.ChannelType'>>,
  Same<typeof alerts.type, Model<'alert.RuleType'>>,
  Same<typeof settings.sources, Model<'Setting'>['source']>,
  Same<typeof statistics.order, NonNullable<Query<'/api/v1/monitor/statistics'>['topBy']>>,
] = [
  true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true,
  true, true, true, true,
]

describe('values of the API', () => {
  it('have a word each', () => expect(same).not.toContain(false))

  it('have a look and a word each where they are states', () => {
    const states = new Set(Object.entries(statuses).flatMap(([kind, all]) => Object.keys(all).map((s) => wordOf(kind as Kind, s).replace('shared.status.', ''))))
    expect(Object.keys(shared.status).sort()).toEqual([...states].sort())
  })
})
