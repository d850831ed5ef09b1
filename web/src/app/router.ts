import { createRouter, createWebHistory, type RouteLocationNormalized, type Router } from 'vue-router'
import { can, resume, signedIn, user } from '@/shared/session/session'
import { navigation, routes } from './features'
import NoPermission from './layout/NoPermission.vue'
import NotFound from './layout/NotFound.vue'

/** The first page: what stands first in the rail. */
function home(): { name: string } {
  const first = navigation()[0]?.items[0]
  return first ? { name: first.route } : { name: 'nothing-to-see' }
}

/**
 * Where somebody wanted to go; never an address of another host, nor a page that is on the way alone: to sign in, to
 * change the password.
 */
export function nextOf(route: Pick<RouteLocationNormalized, 'query'>): string {
  const next = route.query['next']
  if (typeof next !== 'string' || !/^\/(?![/\\])/.test(next)) return '/'
  const to = new URL(next, location.origin)
  if (!/^\/(sign-in|password)\/?$/i.test(to.pathname)) return next
  return nextOf({ query: { next: to.searchParams.get('next') } })
}

/** The address to come back to; nothing for the first page. */
function comeBack(to: RouteLocationNormalized): { next?: string } {
  const next = nextOf({ query: { next: to.fullPath } })
  return next === '/' ? {} : { next }
}

/** The sign-in page, from where one comes back. */
export function signInPage(to: RouteLocationNormalized): { name: string; query: { next?: string } } {
  return { name: 'sign-in', query: comeBack(to) }
}

export function newRouter(): Router {
  const router = createRouter({
    history: createWebHistory(),
    routes: [
      // Which page is the first is known when it is known who is there: below.
      { path: '/', name: 'home', component: NotFound, meta: { permission: 'self', title: 'app.name' } },
      ...routes,
      { path: '/no-permission', name: 'nothing-to-see', component: NoPermission, meta: { permission: 'self', title: 'app.noPermission.title' } },
      { path: '/:address(.*)*', name: 'not-found', component: NotFound, meta: { permission: 'self', title: 'app.notFound.title' } },
    ],
    scrollBehavior(to, from, saved) {
      if (saved) return saved
      return to.path === from.path ? false : to.hash ? { el: to.hash } : { top: 0 }
    },
  })

  let asked = false
  router.beforeEach(async (to) => {
    if (!asked) {
      // A server that is away is told by the bar; the page asks again by itself.
      await resume().catch(() => undefined)
      asked = true
    }
    if (to.matched.length === 0) return true
    if (!signedIn.value && to.meta.permission !== 'public') {
      return signInPage(to)
    }
    if (signedIn.value && to.name === 'sign-in') return nextOf(to)
    // The server refuses every change until then. A user who has changed it goes on to where they wanted to be.
    if (user.value?.mustChangePassword && to.name !== 'password') {
      return { name: 'password', query: comeBack(to) }
    }
    if (user.value?.mustChangePassword === false && to.name === 'password' && to.query['next']) return nextOf(to)
    return signedIn.value && to.name === 'home' ? { ...home(), replace: true } : true
  })
  return router
}

/** Whether the user may see a page; it is shown as one that needs a permission otherwise. */
export function allowed(route: RouteLocationNormalized): boolean {
  return can(route.meta.permission ?? 'self')
}
