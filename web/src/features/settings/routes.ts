import { Setting } from '@element-plus/icons-vue'
import type { Feature } from '@/app/feature'

export default {
  name: 'settings',
  nav: [{ route: 'settings', title: 'settings.title', icon: Setting, section: 'manage', order: 90 }],
  routes: [
    {
      path: '/settings', name: 'settings', component: () => import('./pages/SettingsPage.vue'),
      meta: { permission: 'user:admin', title: 'settings.title' },
    },
  ],
} satisfies Feature
