/** A line of two logs: in both, or in one of them. */
interface DiffLine {
  kind: 'same' | 'gone' | 'new'
  text: string
}

/** The changes from one list of lines to the other: their longest common part stays. Costs before × after. */
export function diff(before: readonly string[], after: readonly string[]): DiffLine[] {
  const width = after.length + 1
  const common = new Uint16Array((before.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      common[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const found: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      found.push({ kind: 'same', text: before[i] ?? '' })
      i++
      j++
    } else if (j >= after.length || (i < before.length && at(i + 1, j) >= at(i, j + 1))) {
      found.push({ kind: 'gone', text: before[i++] ?? '' })
    } else found.push({ kind: 'new', text: after[j++] ?? '' })
  }
  return found
}
