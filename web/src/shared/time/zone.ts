import { computed } from 'vue'
import { stored } from '@/shared/stored'

/** The zone of the browser. */
export const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

/** The zone that somebody chose; empty is the browser's. */
export const chosenZone = stored('zone', '')

/** The zone in which times are shown. */
export const zone = computed(() => (chosenZone.value !== '' && isZone(chosenZone.value) ? chosenZone.value : browserZone))

/** All zones that the browser knows, UTC first. */
export function zones(): string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')]
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
