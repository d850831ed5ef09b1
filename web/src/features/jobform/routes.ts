import type { Feature } from '@/app/feature'

export default {
  name: 'jobform',
  routes: [
    {
      path: '/jobs/new', name: 'job-new', component: () => import('./pages/NewJob.vue'),
      meta: { permission: 'job:write', title: 'jobform.newTitle' },
    },
    {
      path: '/jobs/:id/edit', name: 'job-edit', props: true, component: () => import('./pages/EditJob.vue'),
      meta: { permission: 'job:write', title: 'jobform.editTitle' },
    },
  ],
  actions: [{ name: 'job-new', title: 'jobform.newTitle', permission: 'job:write', to: '/jobs/new' }],
} satisfies Feature
