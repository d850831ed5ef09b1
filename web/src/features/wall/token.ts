import { computed, ref } from 'vue'

// The wall may show what an API token sees: /wall#token=…. The part of an address behind # never goes to a server. The token
// is taken out of the address at once, and stays in this tab alone.
const KEY = 'platform-scheduler.wall.token'
const NAME = 'token'

function kept(): string {
  try {
    return sessionStorage.getItem(KEY) ?? ''
  } catch {
    return ''
  }
}

const token = ref(kept())
/** Tells apart what was read with one token and with another, without saying either. */
const turn = ref(0)

/** Whether the wall reads by a token of its own. */
export const hasToken = computed(() => token.value !== '')
export const tokenTurn = computed(() => turn.value)

/** The headers of a call; none where the session counts. */
export function headersOfWall(): Record<string, string> {
  return token.value === '' ? {} : { Authorization: `Bearer ${token.value}` }
}

/** Keeps a token for this tab; an empty one is forgotten. */
export function keepToken(next: string): void {
  token.value = next
  turn.value++
  try {
    if (next === '') sessionStorage.removeItem(KEY)
    else sessionStorage.setItem(KEY, next)
  } catch {
    // Storage may be forbidden; the token holds until the page is loaded anew.
  }
}

/** Takes the token of an address' fragment; whether there was one. */
export function takeToken(fragment: string): boolean {
  const found = new URLSearchParams(fragment.replace(/^#/, '')).get(NAME)
  if (found === null) return false
  keepToken(found.trim())
  return true
}

/** Takes the token out of the address of the page, before anything else reads it. */
export function takeTokenOfPage(path: string): void {
  if (location.pathname !== path || !takeToken(location.hash)) return
  history.replaceState(history.state, '', location.pathname + location.search)
}
