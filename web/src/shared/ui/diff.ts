import { Chunk } from '@codemirror/merge'
import { Text } from '@codemirror/state'

/** A line of two texts that are compared; a gap stands for lines that are equal and far from a change. */
interface DiffLine {
  sign: 'same' | 'old' | 'new' | 'gap'
  text: string
  /** How many lines a gap leaves out. */
  count: number
}

/** How many equal lines are shown around a change. */
const AROUND = 3

function line(sign: DiffLine['sign'], text: string): DiffLine {
  return { sign, text, count: 1 }
}

/** Folds equal lines that are far from any change. A gap of one line would save nothing. */
function fold(equal: DiffLine[], first: boolean, last: boolean): DiffLine[] {
  const [head, tail] = [first ? 0 : AROUND, last ? 0 : AROUND]
  const hidden = equal.length - head - tail
  if (hidden < 2) return equal
  return [...equal.slice(0, head), { sign: 'gap', text: '', count: hidden }, ...equal.slice(equal.length - tail)]
}

/** The lines of two texts, old ones before new ones; nothing where the texts are equal. */
export function linesOf(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')]
  // A line more, so that the last ones are lines as all others.
  const [a, b] = [Text.of([...old, '']), Text.of([...now, ''])]
  const out: DiffLine[] = []
  // The first line, from zero, of each text that is not in the answer yet.
  let [atOld, atNow] = [0, 0]
  const chunks = Chunk.build(a, b)
  // A chunk ends behind its last line; one without lines stands at the line that follows.
  const lineAt = (text: Text, position: number) => (position > text.length ? text.lines : text.lineAt(position).number - 1)
  for (const [n, chunk] of chunks.entries()) {
    const fromNow = lineAt(b, chunk.fromB)
    out.push(...fold(now.slice(atNow, fromNow).map((text) => line('same', text)), n === 0, false))
    const [endOld, endNow] = [lineAt(a, chunk.toA), lineAt(b, chunk.toB)]
    out.push(...old.slice(lineAt(a, chunk.fromA), endOld).map((text) => line('old', text)))
    out.push(...now.slice(fromNow, endNow).map((text) => line('new', text)))
    atOld = endOld
    atNow = endNow
  }
  if (chunks.length === 0) return []
  out.push(...fold(old.slice(atOld).map((text) => line('same', text)), false, true))
  return out
}
