import { inject, nextTick, watch, type InjectionKey, type Ref } from 'vue'
import { t } from '@/shared/text'
import type { Form } from '@/shared/ui/form'
import type { JobForm } from '../model/job'
import type { Sample } from '../model/placeholders'

/** The state that the parts of the form share. */
interface FormContext {
  /** The job as it is edited; parts bind to it. */
  job: JobForm
  /** The problems by field. */
  form: Form
  /** The fields that are shown at this moment: their problems stand beside them, others above the form. */
  shown: string[]
  editing: boolean
  /** The values for shown placeholders. */
  sample: Ref<Sample>
  /** The first fires, as the preview found them. */
  fires: Ref<readonly string[]>
  /** The schedule in the server's words, empty while it refuses the schedule. */
  words: Ref<string>
}

export const formKey: InjectionKey<FormContext> = Symbol('job form')

export function useFormContext(): FormContext {
  const found = inject(formKey)
  if (!found) throw new Error('a part of the job form stands outside of it')
  return found
}

/** The key of a field's words; places in lists do not matter, and a tree stands for itself by a word. */
export function wordOf(field: string): string {
  const plain = field.replace(/\[\d+\]/g, '')
  return plain === 'jobData' ? 'jobData.data' : plain === 'parameters' || plain === 'next' ? `${plain}.list` : plain
}

/** The word for a field of the API. */
export function labelOf(field: string): string {
  return t(`jobform.field.${wordOf(field)}`)
}

/** Opens a folded part when one of its fields has a problem. */
export function useUnfold(open: Ref<string[]>, name: string, fields: readonly string[]): void {
  const { form } = useFormContext()
  watch(form.problem, async () => {
    await nextTick()
    if (fields.some((f) => form.of(f) !== '') && !open.value.includes(name)) open.value = [...open.value, name]
  })
}
