import { computed, ref, type ComputedRef, type Ref } from 'vue'
import { asProblem, Problem } from '@/shared/api/problem'

/** The parts of a form: errors by field, the rest above it, and a send that is busy. */
export interface Form {
  /** The message for a field, as `<ElFormItem :error="form.of('schedule.cronExpression')">`. */
  of: (field: string) => string
  /** The problems of no field that the form shows. */
  rest: ComputedRef<string[]>
  /** The problem as a whole, where the server named no fields. */
  problem: Ref<Problem | undefined>
  busy: Ref<boolean>
  /** Sends once at a time. Returns whether it worked; its problem is shown by of and rest. */
  send: (act: () => Promise<unknown>) => Promise<boolean>
  clear: () => void
}

/**
 * Makes the state of a form. `fields` are those it shows, as the server names them; a field
 * also takes the errors of what lies below it (`jobData.headers` those of `jobData.headers.X`).
 */
export function useForm(fields: readonly string[]): Form {
  const problem = ref<Problem>() as Ref<Problem | undefined>
  const busy = ref(false)

  const ownerOf = (path: string) =>
    fields.filter((f) => path === f || path.startsWith(`${f}.`) || path.startsWith(`${f}[`)).sort((a, b) => b.length - a.length)[0]

  return {
    of: (field) => problem.value?.fields.filter((f) => ownerOf(f.field) === field).map((f) => f.message).join(' ') ?? '',
    rest: computed(() => {
      if (!problem.value) return []
      const others = problem.value.fields.filter((f) => ownerOf(f.field) === undefined)
      if (problem.value.fields.length === 0) return [problem.value.detail]
      return others.map((f) => `${f.field}: ${f.message}`)
    }),
    problem,
    busy,
    send: async (act) => {
      if (busy.value) return false
      busy.value = true
      problem.value = undefined
      try {
        await act()
        return true
      } catch (failure) {
        problem.value = asProblem(failure)
        return false
      } finally {
        busy.value = false
      }
    },
    clear: () => (problem.value = undefined),
  }
}
