import { computed, readonly, ref } from 'vue'

/** Calls in a row that nobody answered. */
const misses = ref(0)
/** How far the clock of the server is ahead of this one, in milliseconds; 0 while it is within some seconds. */
const offset = ref(0)

const NOTABLE_MS = 5_000

/** Notes that the server answered, and what its clock shows. */
export function answered(response: Response): void {
  misses.value = 0
  const there = Date.parse(response.headers.get('Date') ?? '')
  if (Number.isNaN(there)) return
  const ahead = there - Date.now()
  offset.value = Math.abs(ahead) < NOTABLE_MS ? 0 : ahead
}

/** Notes that a call was not answered. */
export function unanswered(): void {
  misses.value++
}

/** Whether the server is away, as far as calls tell. */
export const offline = computed(() => misses.value > 0)
export const clockOffset = readonly(offset)
