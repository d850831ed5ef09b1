import { computed } from 'vue'
import { t } from '@/shared/text'
import { filled, offered } from '../model/placeholders'
import { useSecretNames } from '../queries'
import { useFormContext } from './context'

/** The placeholders of the job: what each means, and what a run would have. */
export function useOffers(secrets: () => boolean) {
  const { job, sample } = useFormContext()
  const names = useSecretNames()
  return computed(() => offered(job.parameters.map((p) => p.name), secrets() ? (names.data.value ?? []) : []).map((p) => ({
    text: p.text, note: `${t(`jobform.placeholder.${p.name}`)} · ${filled(p.text, sample.value) || '–'}`,
  })))
}
