import type { Model } from '@/shared/api/types'
import { t } from '@/shared/text'
import type { Import } from './queries'

/** What becomes of one object of a document. */
export interface Line extends Pick<Model<'ImportItem'>, 'action' | 'changes' | 'error'> {
  /** Its kind, group and name, for people. */
  name: string
  warnings: readonly Model<'Warning'>[]
}

/** What a document changes, or cannot change, in the order in which it is shown. */
export function linesOf({ groups, items, alerting = [] }: Import): Line[] {
  const lines: Line[] = [
    ...groups.map((group) => ({ ...group, name: t('jobs.groupNamed', { name: group.name }), warnings: [] })),
    ...items.map((job) => ({ ...job, name: `${job.group} / ${job.name}`, warnings: job.warnings ?? [] })),
    ...alerting.map((setting) => ({ ...setting, name: nameOf(setting), warnings: setting.warnings ?? [] })),
  ]
  return lines.filter((line) => line.action !== 'UNCHANGED' || line.error !== null)
}

function nameOf({ kind, group, name }: Model<'ImportSetting'>): string {
  const own = t('jobs.settingNamed', { kind: t(`jobs.setting.${kind}`), name })
  return group === null ? own : `${group} / ${own}`
}

/** How many objects are new, changed, deleted, as before or wrong, in words. */
export function countsOf({ created, updated, deleted, unchanged, failed }: Import): string {
  return t('jobs.importCounts', { created, updated, deleted, unchanged, failed })
}

const counted = ['created', 'updated', 'deleted', 'unchanged', 'failed'] as const

/** The answer to a document that was sent in parts: to those before, and to one more. */
export function merged(before: Import | undefined, one: Import): Import {
  if (!before) return one
  return {
    ...one, groups: [...before.groups, ...one.groups], items: [...before.items, ...one.items],
    ...(before.alerting || one.alerting ? { alerting: [...(before.alerting ?? []), ...(one.alerting ?? [])] } : {}),
    ...Object.fromEntries(counted.map((name) => [name, before[name] + one[name]])),
  }
}
