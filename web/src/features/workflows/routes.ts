import { Share, Stamp } from '@element-plus/icons-vue'
import { defineAsyncComponent } from 'vue'
import type { Feature } from '@/app/feature'

export default {
  name: 'workflows',
  nav: [
    { route: 'workflow-runs', title: 'workflows.title', icon: Share, section: 'work', order: 25 },
    { route: 'approvals', title: 'workflows.approvals.title', icon: Stamp, section: 'work', order: 27, badge: defineAsyncComponent(() => import('./parts/ApprovalCount.vue')) },
  ],
  routes: [
    {
      path: '/workflow-runs', name: 'workflow-runs', component: () => import('./pages/RunList.vue'),
      meta: { permission: 'execution:read', title: 'workflows.title' },
    },
    {
      path: '/workflow-runs/:id', name: 'workflow-run', props: true, component: () => import('./pages/RunPage.vue'),
      meta: { permission: 'execution:read', title: 'workflows.title' },
    },
    {
      path: '/approvals', name: 'approvals', component: () => import('./pages/ApprovalList.vue'),
      meta: { permission: 'execution:read', title: 'workflows.approvals.title' },
    },
  ],
} satisfies Feature
