import { hasText, t } from '@/shared/text'
import type { Approval, RunVerb, StepVerb, WorkflowRun, WorkflowStep } from './queries'

/** What may be asked of a run at this moment. */
export function runVerbs(phase: WorkflowRun['phase']): RunVerb[] {
  if (phase === 'OPEN') return ['pause', 'cancel']
  return phase === 'PAUSED' ? ['resume', 'cancel'] : []
}

/** What may be asked of a step at this moment: nothing where its successors are decided. */
export function stepVerbs(step: Pick<WorkflowStep, 'state' | 'held'>, phase: WorkflowRun['phase']): StepVerb[] {
  if (phase !== 'OPEN' && phase !== 'PAUSED') return []
  if (step.held) return ['repeat', 'succeed', 'skip']
  if (step.state === 'WAITING') return ['skip', 'cancel']
  return step.state === 'RUNNING' ? ['cancel'] : []
}

/** A reason in the reader's words. */
export function reasonOf(reason: string): string {
  return hasText(`executions.reasons.${reason}`) ? t(`executions.reasons.${reason}`) : reason
}

/** What became of an approval, as its state and reason say it. */
export function outcomeOf({ status, reason }: Pick<Approval, 'status' | 'reason'>): string {
  if (status === 'WAITING' || status === 'RUNNING') return 'OPEN'
  if (status === 'SUCCESS') return 'APPROVED'
  if (status === 'FAILED' && reason === 'REJECTED') return 'REJECTED'
  if (reason === 'TIMEOUT') return 'TIMEOUT'
  return status === 'CANCELLED' || status === 'SKIPPED' ? status : 'FAILED'
}

/** How long a step took, or runs already. */
export function tookMs(step: Pick<WorkflowStep, 'startTime' | 'endTime'>, now: number): number | null {
  return step.startTime === null ? null : (step.endTime === null ? now : Date.parse(step.endTime)) - Date.parse(step.startTime)
}
