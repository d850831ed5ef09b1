// The state of the form: what is edited, whether it differs from what is stored, and its sending.
import { computed, nextTick, onBeforeUnmount, provide, reactive, ref, shallowRef, watch } from 'vue'
import { onBeforeRouteLeave, useRouter, type RouteLocationRaw } from 'vue-router'
import { asProblem, Problem } from '@/shared/api/problem'
import { signedIn } from '@/shared/session/session'
import { t } from '@/shared/text'
import { zone as mine } from '@/shared/time/zone'
import { useForm } from '@/shared/ui/form'
import { sayDone } from '@/shared/ui/say'
import { bodyOf, changeOf, FormError, type Body } from '../model/body'
import { differences, merged, type Difference } from '../model/conflict'
import { formOf, type JobForm } from '../model/job'
import type { Sample } from '../model/placeholders'
import { newestVersion, readJob, useSave, type TaggedJob } from '../queries'
import { formKey } from './context'

/** A change that somebody else made meanwhile. */
export interface Conflict { theirs: TaggedJob; by: string; changes: Difference[] }

const copy = (form: JobForm): JobForm => JSON.parse(JSON.stringify(form)) as JobForm

export function useEditor(start: JobForm, stored: TaggedJob | undefined) {
  const router = useRouter()
  const id = stored?.body.id ?? ''
  const job = reactive(copy(start))
  const before = shallowRef(copy(start))
  const etag = ref(stored?.etag ?? '')
  const shown = reactive<string[]>([])
  const form = useForm(shown)
  const fires = shallowRef<readonly string[]>([])
  const words = ref('')
  const save = useSave()
  const conflict = shallowRef<Conflict>()
  const written = ref(false)
  const otherChanges = ref(false)

  const dirty = computed(() => !written.value && (otherChanges.value || JSON.stringify(job) !== JSON.stringify(before.value)))
  const sample = computed<Sample>(() => ({
    time: fires.value[0] ?? new Date(Math.ceil(Date.now() / 60_000) * 60_000).toISOString(), zone: job.schedule.timeZone || mine.value,
    jobName: job.name, group: job.group, owner: job.owner, shardTotal: job.shardCount,
    params: Object.fromEntries(job.parameters.map((p) => [p.name, p.default])),
  }))
  provide(formKey, { job, form, shown, editing: id !== '', sample, fires, words })

  /** The request; undefined where the form cannot make one, which is shown at the field. */
  function request(): Body | undefined {
    try {
      return id === '' ? bodyOf(job) : changeOf(job)
    } catch (failure) {
      if (!(failure instanceof FormError)) throw failure
      const message = t(`jobform.error.${failure.code}`)
      form.problem.value = new Problem(422, 'validation', message, [{ field: failure.field, code: failure.code, message }])
      return undefined
    }
  }

  async function send(): Promise<void> {
    form.clear()
    const body = request()
    if (body && await form.send(async () => {
      const made = await save.mutateAsync({ id, etag: etag.value, body })
      written.value = true
      sayDone(t(id === '' ? 'jobform.made' : 'jobform.saved', { name: made.name }))
      await router.push(`/jobs/${made.id}`)
    })) return
    const problem = form.problem.value
    if (problem && (problem.status === 412 || problem.code === 'stale_version')) await meet(body)
    else await goToProblem()
  }

  /** Finds what somebody else changed, and shows it. */
  async function meet(mineNow: Body | undefined): Promise<void> {
    try {
      const [theirs, version] = await Promise.all([readJob(id), newestVersion(id)])
      conflict.value = { theirs, by: version?.createdBy ?? '', changes: differences(changeOf(before.value), changeOf(formOf(theirs.body)), mineNow ?? {}) }
      form.clear()
    } catch (failure) {
      form.problem.value = asProblem(failure)
    }
  }

  /** Takes what is stored now as the ground: mine over it, or theirs alone. */
  function settle(keep: 'mine' | 'theirs'): void {
    const found = conflict.value
    if (!found) return
    const theirs = formOf(found.theirs.body)
    const mine = copy(job)
    const changed = mine.workflow.yaml !== before.value.workflow.yaml
    Object.assign(job, keep === 'mine' ? merged(before.value, theirs, mine) : copy(theirs))
    // A text and what was read of it belong together.
    if (keep === 'mine') Object.assign(job.workflow, changed ? mine.workflow : copy(theirs).workflow)
    before.value = theirs
    etag.value = found.theirs.etag
    conflict.value = undefined
  }

  /** Shows what the server refused of the draft outside of saving; without a problem, what the form itself refused. */
  async function refused(problem?: Problem): Promise<void> {
    if (problem) form.problem.value = problem
    await goToProblem()
  }

  async function goToProblem(): Promise<void> {
    await nextTick()
    await nextTick()
    const first = document.querySelector<HTMLElement>('.job-form .is-error, .job-form .el-alert--error')
    first?.scrollIntoView({ block: 'center' })
    first?.querySelector<HTMLElement>('input, textarea, [contenteditable=true], button')?.focus({ preventScroll: true })
  }

  // Leaving: the router asks by a dialog, the browser by its own words.
  const leaving = ref<RouteLocationRaw>()
  const asks = computed({ get: () => leaving.value !== undefined, set: (open) => { if (!open) leaving.value = undefined } })
  onBeforeRouteLeave((to) => {
    // A user who has left has left the form, too.
    if (!dirty.value || !signedIn.value) return true
    leaving.value = to.fullPath
    return false
  })
  async function leave(): Promise<void> {
    const to = leaving.value
    written.value = true
    if (to) await router.push(to)
  }
  const warn = (event: BeforeUnloadEvent) => {
    if (dirty.value) event.preventDefault()
  }
  window.addEventListener('beforeunload', warn)
  onBeforeUnmount(() => window.removeEventListener('beforeunload', warn))

  // A corrected field does not show its old problem until the server judges again.
  watch(() => job.jobType, () => form.clear())

  return { id, job, form, dirty, conflict, etag, written, otherChanges, asks, request, send, refused, meet, settle, leave, fires }
}
