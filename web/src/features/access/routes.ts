import { Collection, Document, Key, Lock, User } from '@element-plus/icons-vue'
import type { Feature } from '@/app/feature'

export default {
  name: 'access',
  nav: [
    { route: 'groups', title: 'access.groups.title', icon: Collection, section: 'manage', order: 10 },
    { route: 'secrets', title: 'access.secrets.title', icon: Lock, section: 'manage', order: 20 },
    { route: 'users', title: 'access.users.title', icon: User, section: 'manage', order: 30, key: 'u' },
    { route: 'tokens', title: 'access.tokens.title', icon: Key, section: 'manage', order: 40 },
    { route: 'audit', title: 'access.audit.title', icon: Document, section: 'manage', order: 50 },
  ],
  routes: [
    {
      path: '/groups', name: 'groups', component: () => import('./groups/GroupList.vue'),
      meta: { permission: 'job:read', title: 'access.groups.title' },
    },
    {
      path: '/secrets', name: 'secrets', component: () => import('./secrets/SecretList.vue'),
      meta: { permission: 'secret:read', title: 'access.secrets.title' },
    },
    {
      path: '/users', name: 'users', component: () => import('./users/UserList.vue'),
      meta: { permission: 'user:admin', title: 'access.users.title' },
    },
    {
      path: '/users/new', name: 'user-new', component: () => import('./users/NewUser.vue'),
      meta: { permission: 'user:write', title: 'access.users.new' },
    },
    {
      path: '/users/:id', name: 'user', props: true, component: () => import('./users/UserPage.vue'),
      meta: { permission: 'user:admin', title: 'access.users.title' },
    },
    {
      path: '/tokens', name: 'tokens', component: () => import('./tokens/TokenList.vue'),
      meta: { permission: 'account', title: 'access.tokens.title' },
    },
    {
      path: '/audit', name: 'audit', component: () => import('./audit/AuditList.vue'),
      meta: { permission: 'audit:read', title: 'access.audit.title' },
    },
    {
      path: '/account', name: 'account', component: () => import('./account/AccountPage.vue'),
      meta: { permission: 'self', title: 'access.account.title' },
    },
  ],
} satisfies Feature
