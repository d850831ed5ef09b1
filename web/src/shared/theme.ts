import { computed, ref, watchEffect } from 'vue'
import { stored } from '@/shared/stored'

export type Theme = 'auto' | 'light' | 'dark'

/** The chosen look; auto follows the system. */
export const theme = stored<Theme>('theme', 'auto')

const media = window.matchMedia('(prefers-color-scheme: dark)')
const system = ref(media.matches)

/** Whether the page is dark now. */
export const dark = computed(() => theme.value === 'dark' || (theme.value === 'auto' && system.value))

/** Follows choice and system from now on. */
export function startTheme(): void {
  media.addEventListener('change', (event) => (system.value = event.matches))
  watchEffect(() => document.documentElement.classList.toggle('dark', dark.value))
}
