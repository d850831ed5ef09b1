/** A step of a workflow run, as the fire key of its execution names it. */
export interface Step {
  run: string
  /** The name with the item and the generation, such as score[17]~2. */
  key: string
  name: string
}

/** The step that an execution is of; undefined for others. */
export function stepOf(fireKey: string): Step | undefined {
  const [, run, key] = /^run:([^:]+):(.+)$/.exec(fireKey) ?? []
  return run === undefined || key === undefined ? undefined : { run, key, name: /^[^[~]+/.exec(key)?.[0] ?? key }
}

/** Whether the id is that of a step whose work stands in its workflow: no job has it. */
export function isInline(jobId: string): boolean {
  return jobId.startsWith('00000000-0000-8')
}
