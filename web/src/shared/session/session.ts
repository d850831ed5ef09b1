import { computed, readonly, shallowRef } from 'vue'
import { client, data, onSessionEnd, setCsrfToken } from '@/shared/api/client'
import { Problem } from '@/shared/api/problem'
import type { Model, Permission } from '@/shared/api/types'

type Me = Model<'Me'>

const me = shallowRef<Me | null>(null)
/** Whether a session that was there is over, so that the sign-in page says so. */
const over = shallowRef(false)
/** Tabs tell each other that somebody signed in or out. */
const tabs = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('platform-scheduler.session')

let onChange: () => void = () => undefined

/** Who is signed in; null for nobody. */
export const user = readonly(me)
export const sessionIsOver = readonly(over)
export const signedIn = computed(() => me.value !== null)

/** Sets who is told that somebody else, or nobody, is signed in now. */
export function onUserChange(listener: () => void): void {
  onChange = listener
}

function become(next: Me | null): void {
  const before = me.value
  me.value = next
  setCsrfToken(next?.csrfToken ?? '')
  if (before?.id !== next?.id) onChange()
}

/** Asks the server who is signed in. A server that is away is a Problem; nobody is null. */
export async function resume(): Promise<void> {
  try {
    become(await data(client.GET('/api/v1/auth/me')))
    over.value = false
  } catch (failure) {
    if (!(failure instanceof Problem) || failure.status !== 401) throw failure
    become(null)
  }
}

/** Signs in by a cookie. */
export async function signIn(username: string, password: string): Promise<void> {
  await data(client.POST('/api/v1/auth/login', { body: { username, password, cookie: true } }))
  await resume()
  tabs?.postMessage('signed-in')
}

/** Signs out. A session that is over already is no failure. */
export async function signOut(): Promise<void> {
  try {
    await data(client.POST('/api/v1/auth/logout'))
  } catch (failure) {
    if (!(failure instanceof Problem) || failure.status !== 401) throw failure
  }
  leave(false)
  tabs?.postMessage('signed-out')
}

/** Changes one's own password, which ends every session. */
export async function changePassword(oldPassword: string, newPassword: string, keepTokens: boolean): Promise<void> {
  await data(client.POST('/api/v1/auth/password', { body: { oldPassword, newPassword, keepTokens } }))
  leave(false)
  tabs?.postMessage('signed-out')
}

function leave(surprising: boolean): void {
  over.value = surprising && me.value !== null
  become(null)
}

onSessionEnd(() => {
  if (me.value !== null) leave(true)
})
tabs?.addEventListener('message', () => {
  // A server that is away is noticed by the next call.
  resume().catch(() => undefined)
})

const READING: readonly Permission[] = ['job:read', 'execution:read', 'alert:read']

/**
 * Whether the user may do something, so that it is offered. The server judges again.
 * `group` is that of the object; null is what concerns every group; without one: anywhere.
 */
export function can(permission: Permission, group?: string | null): boolean {
  const who = me.value
  if (permission === 'public') return true
  if (who === null || !who.permissions.includes(permission)) return false
  if (group === undefined || who.groups === null) return true
  if (group === null) return false
  const role = who.groups[group]
  if (role === undefined || role === 'disabled') return false
  return role !== 'viewer' || READING.includes(permission)
}
