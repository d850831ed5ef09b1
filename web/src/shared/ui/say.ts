import { h } from 'vue'
import { ElButton } from 'element-plus/es/components/button/index'
import 'element-plus/es/components/button/style/css'
import { ElMessage } from 'element-plus/es/components/message/index'
import 'element-plus/es/components/message/style/css'
import { asProblem, type Problem } from '@/shared/api/problem'
import { t } from '@/shared/text'

/** A problem in a few words of the reader's language; the server's own sentence stands beside it. */
export function titleOf(problem: Problem, otherwise: string): string {
  if (problem.offline) return t('shared.error.offline')
  switch (problem.status) {
    case 0:
      return t('shared.error.tooSlow')
    case -1:
      return t('shared.error.console')
    case 403:
      return t('shared.error.forbidden')
    case 404:
      return t('shared.error.notFound')
    case 412:
      return t('shared.error.conflict')
    case 429:
      return t('shared.error.tooMany')
  }
  return otherwise
}

/** Says shortly that something was done. */
export function sayDone(text: string): void {
  ElMessage({ type: 'success', message: text, grouping: true })
}

/** Says that something was done, with a button that takes it back. It stays long enough to be read and reached. */
export function sayDoneWith(text: string, button: string, act: () => unknown): void {
  const press = () => {
    said.close()
    act()
  }
  const message = h('span', { class: 'row' }, [text, h(ElButton, { size: 'small', onClick: press }, () => button)])
  const said = ElMessage({ type: 'success', message, duration: 20_000, showClose: true })
}

/** Says why something was not done, until somebody closes it. */
export function sayFailed(failure: unknown): void {
  const problem = asProblem(failure)
  const title = titleOf(problem, t('shared.error.failed'))
  const fields = problem.fields.map((f) => `${f.field}: ${f.message}`)
  const message = [title, ...(fields.length > 0 ? fields : [problem.detail])].filter(Boolean).join(' · ')
  ElMessage({ type: 'error', message, duration: 10_000, showClose: true, grouping: true })
}
