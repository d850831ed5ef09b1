import { Calendar } from '@element-plus/icons-vue'
import type { Feature } from '@/app/feature'

export default {
  name: 'jobs',
  nav: [{ route: 'jobs', title: 'jobs.title', icon: Calendar, section: 'work', order: 20, key: 'j' }],
  routes: [
    {
      path: '/jobs', name: 'jobs', component: () => import('./pages/JobList.vue'),
      meta: { permission: 'job:read', title: 'jobs.title' },
    },
    {
      path: '/jobs/:id', name: 'job', props: true, component: () => import('./pages/JobPage.vue'),
      meta: { permission: 'job:read', title: 'jobs.title' },
    },
  ],
} satisfies Feature
