import { DataAnalysis } from '@element-plus/icons-vue'
import type { Feature } from '@/app/feature'

export default {
  name: 'statistics',
  nav: [{ route: 'statistics', title: 'statistics.title', icon: DataAnalysis, section: 'observe', order: 50, key: 's' }],
  routes: [
    {
      path: '/statistics', name: 'statistics', component: () => import('./pages/StatisticsPage.vue'),
      meta: { permission: 'job:read', title: 'statistics.title' },
    },
  ],
} satisfies Feature
