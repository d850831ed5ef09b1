import type { Permission } from '@/shared/api/types'
import { can } from '@/shared/session/session'
import type { Action, Feature, NavItem, Route } from './feature'

const files = import.meta.glob<Feature>('../features/*/routes.ts', { eager: true, import: 'default' })

/** All features, by name. */
export const features: readonly Feature[] = Object.values(files).sort((a, b) => a.name.localeCompare(b.name))
export const routes: readonly Route[] = features.flatMap((f) => f.routes)

const sections: readonly NavItem['section'][] = ['work', 'observe', 'manage']

function permissionOf(routeName: string): Permission {
  return routes.find((r) => r.name === routeName)?.meta.permission ?? 'self'
}

export function pathOf(routeName: string): string {
  return routes.find((r) => r.name === routeName)?.path ?? '/'
}

/** The places that the user may see, by section and order. */
export function navigation(): { section: NavItem['section']; items: NavItem[] }[] {
  const all = features.flatMap((f) => f.nav ?? []).filter((item) => can(item.permission ?? permissionOf(item.route)))
  return sections
    .map((section) => ({ section, items: all.filter((i) => i.section === section).sort((a, b) => a.order - b.order) }))
    .filter(({ items }) => items.length > 0)
}

/** The actions of the user in the palette. */
export function actions(): Action[] {
  return features.flatMap((f) => f.actions ?? []).filter((a) => can(a.permission))
}
