import { VueQueryPlugin } from '@tanstack/vue-query'
import { mount, type VueWrapper } from '@vue/test-utils'
import type { Component } from 'vue'
import { createMemoryHistory, createRouter, type RouteRecordRaw, type Router } from 'vue-router'
import { vi } from 'vitest'
import { routes } from '@/app/features'
import { newQueryClient } from '@/shared/api/queries'
import type { Model } from '@/shared/api/types'
import { resume } from '@/shared/session/session'

export type Answers = Record<string, (request: Request) => Response | Promise<Response>>

/** An answer of the server. */
export function json(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } })
}

/** A server of a test: `METHOD /path` answers; everything else is not found. It returns the calls. */
export function serve(answers: Answers): Request[] {
  const calls: Request[] = []
  vi.stubGlobal('fetch', async (request: Request) => {
    calls.push(request.clone())
    const answer = answers[`${request.method} ${new URL(request.url).pathname}`]
    return answer ? answer(request) : json({ code: 'not_found', detail: 'nothing is there', status: 404 }, 404)
  })
  return calls
}

/** Signs somebody in, who holds these permissions. */
export async function signInAs(
  permissions: Model<'Permission'>[], groups: Model<'Me'>['groups'] = null, more: Partial<Model<'Me'>> = {},
): Promise<void> {
  const me: Model<'Me'> = {
    id: '1', username: 'ann', role: 'operator', commands: false, secrets: false, groups, mustChangePassword: false, csrfToken: 't',
    permissions, ...more,
  }
  const before = globalThis.fetch
  vi.stubGlobal('fetch', async () => json(me))
  await resume()
  vi.stubGlobal('fetch', before)
}

/** Mounts a component with the routes of the console at an address. */
export async function mountAt(
  component: Component, address = '/', options: { props?: Record<string, unknown>; slots?: Record<string, unknown> } = {},
): Promise<{ wrapper: VueWrapper; router: Router }> {
  const page = { render: () => null }
  const known = routes.map<RouteRecordRaw>(({ path, name, meta }) => ({ path, name, meta, component: page }))
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [...known, { path: '/:rest(.*)*', component: page }],
  })
  await router.push(address)
  const wrapper = mount(component, {
    attachTo: document.body,
    global: { plugins: [router, [VueQueryPlugin, { queryClient: newQueryClient() }]] },
    ...(options as object),
  })
  return { wrapper, router }
}
