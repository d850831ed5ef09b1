import { DataBoard } from '@element-plus/icons-vue'
import type { Feature } from '@/app/feature'
import { takeTokenOfPage } from './token'

const PATH = '/wall'
// Before the router keeps the address in the history of the tab.
takeTokenOfPage(PATH)

export default {
  name: 'wall',
  nav: [{ route: 'wall', title: 'wall.title', icon: DataBoard, section: 'observe', order: 60, key: 'w', permission: 'job:read' }],
  routes: [
    {
      path: PATH, name: 'wall', component: () => import('./pages/WallPage.vue'),
      meta: { permission: 'public', title: 'wall.title', bare: true },
    },
  ],
} satisfies Feature
