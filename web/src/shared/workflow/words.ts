import { hasText, t } from '@/shared/text'
import { wordsOf, type GraphStep } from './step'

/** The ends that an edge asks for, in the reader's words. */
export function onText(words: readonly string[]): string {
  return words.map((w) => (hasText(`shared.workflow.on.${w}`) ? t(`shared.workflow.on.${w}`) : w)).join(t('shared.workflow.or'))
}

/** What a step needs, in words; empty for a step that begins. */
export function needsText(step: Pick<GraphStep, 'needs' | 'join' | 'finally'>): string {
  if (step.finally) return t('shared.workflow.last')
  if (step.needs.length === 0) return ''
  const each = step.needs.map((n) => (wordsOf(n).length === 0 ? n.step : `${n.step} (${onText(n.on)})`))
  return t(step.join === 'ANY' && each.length > 1 ? 'shared.workflow.needsAny' : 'shared.workflow.needs', { steps: each.join(', ') })
}
