import { Bell } from '@element-plus/icons-vue'
import type { Feature, Route } from '@/app/feature'
import { kinds, writePermission, type SettingKind } from './settings/kinds'

/** The list of a kind of definitions, and the form of one. */
function settings(kind: SettingKind): Route[] {
  const page = () => import('./settings/SettingPage.vue')
  const title = `alerts.kinds.${kind}`
  return [
    {
      path: `/alerts/${kind}`, name: `alert-${kind}`, props: { kind }, component: () => import('./settings/SettingList.vue'),
      meta: { permission: 'alert:read', title },
    },
    {
      path: `/alerts/${kind}/new`, name: `alert-${kind}-new`, props: { kind }, component: page,
      meta: { permission: writePermission(kind), title },
    },
    {
      path: `/alerts/${kind}/:id`, name: `alert-${kind}-one`, props: (to) => ({ kind, id: String(to.params['id']) }), component: page,
      meta: { permission: 'alert:read', title },
    },
  ]
}

export default {
  name: 'alerts',
  nav: [{ route: 'alerts', title: 'alerts.title', icon: Bell, section: 'observe', order: 10, key: 'a' }],
  routes: [
    {
      path: '/alerts', name: 'alerts', component: () => import('./pages/AlertList.vue'),
      meta: { permission: 'alert:read', title: 'alerts.title' },
    },
    {
      path: '/alerts/:id', name: 'alert', props: true, component: () => import('./pages/AlertPage.vue'),
      meta: { permission: 'alert:read', title: 'alerts.one' },
    },
    ...kinds.flatMap(settings),
  ],
} satisfies Feature
