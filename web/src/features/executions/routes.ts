import { Tickets } from '@element-plus/icons-vue'
import type { Feature } from '@/app/feature'

export default {
  name: 'executions',
  nav: [{ route: 'executions', title: 'executions.title', icon: Tickets, section: 'work', order: 30, key: 'e' }],
  routes: [
    {
      path: '/executions', name: 'executions', component: () => import('./pages/ExecutionList.vue'),
      meta: { permission: 'execution:read', title: 'executions.title' },
    },
    {
      path: '/executions/:id', name: 'execution', props: true, component: () => import('./pages/ExecutionPage.vue'),
      meta: { permission: 'execution:read', title: 'executions.title' },
    },
  ],
} satisfies Feature
