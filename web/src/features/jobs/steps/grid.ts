import { stateOf } from '@/shared/workflow/step'
import type { WorkflowRunDetail } from './queries'

/** The steps of all runs of a grid: those of the definition in its order, then those that runs of former versions had. */
export function rowsOf(defined: readonly string[], runs: readonly (WorkflowRunDetail | undefined)[]): string[] {
  return [...new Set([...defined, ...runs.flatMap((run) => run?.steps.map((s) => s.step) ?? [])])]
}

/** The state of a step in a run; undefined where the run is not read yet, or its version has no such step. */
export function cellOf(run: WorkflowRunDetail | undefined, step: string): string | undefined {
  const found = run?.steps.find((s) => s.step === step)
  return found && stateOf(found)
}
