import type { Model } from '@/shared/api/types'
import { t } from '@/shared/text'
import { bytes, duration } from '@/shared/text/format'

/** The usage of a command in words; empty where nothing is known. */
export function used(usage: Model<'Usage'> | null): string {
  return usage ? t('executions.used', { cpu: duration(usage.cpuMs), memory: bytes(usage.peakKb * 1024) }) : ''
}
