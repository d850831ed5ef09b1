import { onScopeDispose, ref } from 'vue'
import { useRouter } from 'vue-router'
import { sessionIsOver } from '@/shared/session/session'
import { navigation } from './features'

/** Whether the palette or the help is open; they are opened by key and by click. */
export const paletteOpen = ref(false)
export const helpOpen = ref(false)

const PATIENCE_MS = 1_200

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

/** Keys for the whole console: / and Ctrl K open the palette, ? the help, g LETTER a place. */
export function useKeyboard(): void {
  const router = useRouter()
  let wentAt = -Infinity

  function pressed(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing || sessionIsOver.value) return
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      paletteOpen.value = true
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || paletteOpen.value || helpOpen.value) return
    const key = event.key
    if (event.timeStamp - wentAt < PATIENCE_MS) {
      wentAt = -Infinity
      const item = navigation().flatMap((s) => s.items).find((i) => i.key === key.toLowerCase())
      if (item) {
        event.preventDefault()
        void router.push({ name: item.route })
      }
    } else if (key === 'g') {
      wentAt = event.timeStamp
    } else if (key === '/' || key === '?') {
      event.preventDefault()
      if (key === '/') paletteOpen.value = true
      else helpOpen.value = true
    }
  }

  document.addEventListener('keydown', pressed)
  onScopeDispose(() => document.removeEventListener('keydown', pressed))
}
