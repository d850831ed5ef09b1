import { Monitor } from '@element-plus/icons-vue'
import type { Feature } from '@/app/feature'

export default {
  name: 'nodes',
  nav: [{ route: 'nodes', title: 'nodes.title', icon: Monitor, section: 'observe', order: 40, key: 'n' }],
  routes: [
    {
      path: '/nodes', name: 'nodes', component: () => import('./pages/NodeList.vue'),
      meta: { permission: 'job:read', title: 'nodes.title' },
    },
    {
      path: '/nodes/:id', name: 'node', props: true, component: () => import('./pages/NodePage.vue'),
      meta: { permission: 'job:read', title: 'nodes.title' },
    },
  ],
} satisfies Feature
