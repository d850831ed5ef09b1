// A step of a workflow as the console shows it: in its graph, in the grid of its runs, and while it is written.

/** An edge: the step that is needed, and the ends that are asked for. */
export interface Need {
  step: string
  on: readonly string[]
}

/** A step of a definition, as a graph shows it. */
export interface GraphStep {
  name: string
  kind: string
  needs: readonly Need[]
  join?: string
  minSuccess?: number
  when?: string
  tolerate?: boolean
  finally?: boolean
  forEach?: object | null
}

/** Where a step of a run stands, as a graph shows it. */
export interface StepState {
  state: string
  reason?: string
  held?: boolean
  items?: { total: number; success: number; failed: number } | null
}

/** The state as people see it: a failure that waits for a person is held, and a success may be that of a former run. */
export function stateOf(step: Pick<StepState, 'state' | 'held' | 'reason'>): string {
  if (step.held) return 'HELD'
  return step.reason === 'REUSED' ? 'REUSED' : step.state
}

/** The ends that an edge asks for; none where it asks for a success, as edges do that say nothing. */
export function wordsOf(need: Need): readonly string[] {
  return need.on.length === 0 || (need.on.length === 1 && need.on[0] === 'success') ? [] : need.on
}

/** More steps than these are shown as a list at first: a graph of them is a wall. */
export const GRAPH_MOST = 60
