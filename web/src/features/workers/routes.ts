import { Connection, Cpu } from '@element-plus/icons-vue'
import type { Feature } from '@/app/feature'

export default {
  name: 'workers',
  nav: [
    { route: 'workers', title: 'workers.title', icon: Cpu, section: 'observe', order: 45, key: 'k' },
    { route: 'worker-groups', title: 'workers.groups.title', icon: Connection, section: 'manage', order: 15 },
  ],
  routes: [
    {
      path: '/workers', name: 'workers', component: () => import('./pages/WorkerList.vue'),
      meta: { permission: 'job:read', title: 'workers.title' },
    },
    {
      path: '/workers/:id', name: 'worker', props: true, component: () => import('./pages/WorkerPage.vue'),
      meta: { permission: 'job:read', title: 'workers.title' },
    },
    {
      path: '/worker-groups', name: 'worker-groups', component: () => import('./pages/GroupList.vue'),
      meta: { permission: 'worker:admin', title: 'workers.groups.title' },
    },
    {
      path: '/worker-groups/:name', name: 'worker-group', props: true, component: () => import('./pages/GroupPage.vue'),
      meta: { permission: 'worker:admin', title: 'workers.groups.title' },
    },
  ],
} satisfies Feature
