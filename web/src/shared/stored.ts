import { ref, watch, type Ref } from 'vue'

const PREFIX = 'platform-scheduler.'

/** A choice that this browser keeps, shared with its other tabs. A browser that keeps nothing still chooses. */
export function stored(name: string, fallback: boolean): Ref<boolean>
export function stored(name: string, fallback: number): Ref<number>
export function stored<T extends string = string>(name: string, fallback: NoInfer<T>): Ref<T>
export function stored<T extends string | number | boolean>(name: string, fallback: T): Ref<T> {
  const key = PREFIX + name
  const value = ref(read(key, fallback)) as Ref<T>
  watch(value, (next) => {
    try {
      localStorage.setItem(key, JSON.stringify(next))
    } catch {
      // Storage may be forbidden or full; the choice holds until the page is closed.
    }
  })
  window.addEventListener('storage', (event) => {
    if (event.key === key) value.value = read(key, fallback)
  })
  return value
}

function read<T>(key: string, fallback: T): T {
  try {
    const text = localStorage.getItem(key)
    const found: unknown = text === null ? fallback : JSON.parse(text)
    return typeof found === typeof fallback ? (found as T) : fallback
  } catch {
    return fallback
  }
}
