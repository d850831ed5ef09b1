import { computed, readonly, shallowRef } from 'vue'
import { client, data, onSession, setCsrfToken } from '@/shared/api/client'
import { Problem } from '@/shared/api/problem'
import type { Model, Permission } from '@/shared/api/types'

type Me = Model<'Me'>

const me = shallowRef<Me | null>(null)
/** Whether the session is over while its page is still there: calls wait for a new one. */
const over = shallowRef(false)
/** The user who is signed in by now, where the page is still that of somebody else. */
const another = shallowRef<Me | null>(null)
/** Tabs tell each other that somebody signed in or out. */
const [SIGNED_IN, SIGNED_OUT] = ['signed-in', 'signed-out']
const tabs = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('platform-scheduler.session')

let onChange: () => void = () => undefined
/** The calls that wait: whether they are sent again. */
const waiting: ((again: boolean) => void)[] = []

/** The user who is signed in, or was until the session was over; null for nobody. */
export const user = readonly(me)
export const sessionIsOver = readonly(over)
export const anotherUser = readonly(another)
export const signedIn = computed(() => me.value !== null)

/** Sets who is told that somebody else, or nobody, is signed in now. */
export function onUserChange(listener: () => void): void {
  onChange = listener
}

function become(next: Me | null): void {
  const before = me.value
  me.value = next
  over.value = false
  another.value = null
  setCsrfToken(next?.csrfToken ?? '')
  // A request of one user is never sent in the name of another.
  const again = next !== null && before?.id === next.id
  waiting.splice(0).forEach((go) => go(again))
  if (before?.id !== next?.id) onChange()
}

/**
 * Asks the server who is signed in. A server that is away is a Problem; nobody is null. Where the page is that of
 * somebody else, it stays until goOn or another sign-in.
 */
export async function resume(): Promise<void> {
  try {
    const found = await data(client.GET('/api/v1/auth/me'))
    if (me.value === null || me.value.id === found.id) return become(found)
    another.value = found
    over.value = true
  } catch (failure) {
    if (!(failure instanceof Problem) || failure.status !== 401) throw failure
    another.value = null
    over.value = me.value !== null
  }
}

/** Gives the page to who is signed in by now. The text that the former user typed is gone. */
export function goOn(): void {
  if (another.value !== null) become(another.value)
}

/** Signs in by a cookie. */
export async function signIn(username: string, password: string): Promise<void> {
  await data(client.POST('/api/v1/auth/login', { body: { username, password, cookie: true } }))
  await resume()
  tabs?.postMessage(SIGNED_IN)
}

/** Signs out. A session that is over already is no failure. */
export async function signOut(): Promise<void> {
  try {
    await data(client.POST('/api/v1/auth/logout'))
  } catch (failure) {
    if (!(failure instanceof Problem) || failure.status !== 401) throw failure
  }
  leave()
  tabs?.postMessage(SIGNED_OUT)
}

/**
 * Changes one's own password, which ends every session. A user who had to change it goes on with a new one: then it
 * returns true.
 */
export async function changePassword(oldPassword: string, newPassword: string, keepTokens: boolean): Promise<boolean> {
  const had = me.value?.mustChangePassword === true
  await data(client.POST('/api/v1/auth/password', { body: { oldPassword, newPassword, keepTokens } }))
  // A node of an older release opens no new session.
  const now = had ? await data(client.GET('/api/v1/auth/me')).catch(() => null) : null
  become(now)
  tabs?.postMessage(now === null ? SIGNED_OUT : SIGNED_IN)
  return now !== null
}

/** Leaves the page of this tab to nobody. */
export function leave(): void {
  become(null)
}

onSession((refused) => {
  if (me.value === null) return undefined
  if (refused) over.value = true
  return over.value ? new Promise((go) => waiting.push(go)) : undefined
})
tabs?.addEventListener('message', ({ data: said }) => {
  // A user who signs out wants to be out in every tab.
  if (said === SIGNED_OUT) become(null)
  // A server that is away is noticed by the next call.
  else resume().catch(() => undefined)
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
