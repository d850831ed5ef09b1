import { onScopeDispose, readonly, ref, type Ref } from 'vue'
import { clockOffset } from '@/shared/api/connection'

const now = ref(Date.now())
let users = 0
let timer: ReturnType<typeof setInterval> | undefined

function tick(): void {
  if (document.visibilityState !== 'hidden') now.value = Date.now() + clockOffset.value
}

/** The time of the server by the second, while the page is seen. */
export function useNow(): Readonly<Ref<number>> {
  if (users++ === 0) {
    tick()
    timer = setInterval(tick, 1_000)
    document.addEventListener('visibilitychange', tick)
  }
  onScopeDispose(() => {
    if (--users > 0) return
    clearInterval(timer)
    document.removeEventListener('visibilitychange', tick)
  })
  return readonly(now)
}
