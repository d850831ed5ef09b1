import { WarnTriangleFilled } from '@element-plus/icons-vue'
import type { Feature } from '@/app/feature'

export default {
  name: 'deadletters',
  nav: [{ route: 'dead-letters', title: 'deadletters.title', icon: WarnTriangleFilled, section: 'work', order: 40, key: 'd' }],
  routes: [
    {
      path: '/dead-letters', name: 'dead-letters', component: () => import('./pages/DeadLetterList.vue'),
      meta: { permission: 'execution:read', title: 'deadletters.title' },
    },
  ],
} satisfies Feature
