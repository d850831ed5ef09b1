import type { Feature } from '@/app/feature'

export default {
  name: 'session',
  routes: [
    {
      path: '/sign-in', name: 'sign-in', component: () => import('./pages/SignIn.vue'),
      meta: { permission: 'public', title: 'session.signIn', bare: true },
    },
    {
      path: '/password', name: 'password', component: () => import('./pages/ChangePassword.vue'),
      meta: { permission: 'account', title: 'session.changePassword' },
    },
  ],
} satisfies Feature
