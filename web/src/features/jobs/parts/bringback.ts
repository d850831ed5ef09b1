import { useRouter } from 'vue-router'
import { t } from '@/shared/text'
import { sayDone, sayFailed } from '@/shared/ui/say'
import { useUndelete } from '../queries'

/** Makes what brings a deleted job back, leads to it, and says so. Its page may be gone by then. */
export function useBringBack() {
  const router = useRouter()
  const undelete = useUndelete()
  return async (id: string): Promise<void> => {
    try {
      const { name } = await undelete.mutateAsync(id)
      await router.push({ name: 'job', params: { id } })
      sayDone(t('jobs.broughtBack', { name }))
    } catch (failure) {
      sayFailed(failure)
    }
  }
}
