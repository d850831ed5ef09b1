import { Odometer } from '@element-plus/icons-vue'
import type { Feature } from '@/app/feature'

export default {
  name: 'overview',
  nav: [{ route: 'overview', title: 'overview.title', icon: Odometer, section: 'work', order: 0, key: 'o' }],
  routes: [
    {
      path: '/overview', name: 'overview', component: () => import('./pages/OverviewPage.vue'),
      meta: { permission: 'job:read', title: 'overview.title' },
    },
  ],
} satisfies Feature
