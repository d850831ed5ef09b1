import { yamlLanguage } from '@codemirror/lang-yaml'

/** A part of a document: a document itself, with so many jobs. */
export interface Part { text: string; jobs: number }

type Node = ReturnType<typeof yamlLanguage.parser.parse>['topNode']
/** The places of a text from one to another. */
type Span = [from: number, to: number]

/** A document taken apart: texts, and the places of its fields and jobs. */
interface Pieces {
  before: string
  fields: Map<string, Span>
  /** What opens the list of jobs, and what closes it. */
  list: [string, string]
  items: Span[]
  between: string
  after: string
}

/**
 * Cuts a document into parts of so many jobs: groups go with the first part, alert settings with the last. The text of
 * each job stays as it is. A document stays whole where they cannot be told apart, or are not as many as the server
 * has found: `jobs`.
 */
export function cut(text: string, jobs: number, size: number): Part[] {
  const found = read(text)
  if (found?.items.length !== jobs) return [{ text, jobs }]
  const { before, fields, list, items, between, after } = found
  const of = ([from, to]: Span) => text.slice(from, to)
  const count = Math.ceil(jobs / size)
  return Array.from({ length: count }, (_, n) => {
    const some = items.slice(n * size, (n + 1) * size)
    const kept = [...fields].filter(([name]) => (name === 'groups' ? n === 0 : name === 'alerting' ? n === count - 1 : true))
    const written = kept.map(([name, span]) => (name === 'jobs' ? list[0] + some.map(of).join(between) + list[1] : of(span)))
    return { text: before + written.join(between) + after, jobs: some.length }
  })
}

/** Where the fields of a document stand, and its jobs; undefined where they cannot be told apart. */
function read(text: string): Pieces | undefined {
  const tree = yamlLanguage.parser.parse(text)
  let wrong = false
  tree.iterate({ enter: ({ type }) => void (wrong ||= type.isError) })
  const document = tree.topNode.getChild('Document')
  const [block, flow] = [document?.getChild('BlockMapping'), document?.getChild('FlowMapping')]
  const pairs = (block ?? flow)?.getChildren('Pair') ?? []
  const jobs = pairs.find((pair) => nameOf(text, pair) === 'jobs')
  const list = jobs?.getChild(block ? 'BlockSequence' : 'FlowSequence')
  if (wrong || !jobs || !list) return undefined
  const named = (spans: Span[]) => new Map(pairs.map((pair, n) => [nameOf(text, pair), spans[n] as Span]))
  if (!block) {
    const span = ({ from, to }: Node): Span => [from, to]
    return {
      before: '{', fields: named(pairs.map(span)), list: ['"jobs": [', ']'], items: list.getChildren('Item').map(span), between: ',\n', after: '}',
    }
  }
  // A field or a job in lines of its own goes with whole lines, and with the remarks after it.
  const fields = lines(text, pairs, text.length)
  const all = named(fields ?? [])
  const items = lines(text, list.getChildren('-'), all.get('jobs')?.[1] ?? 0)
  const first = items?.[0]
  if (!fields || !first) return undefined
  return {
    before: text.slice(0, fields[0]?.[0]), fields: all, list: [text.slice(all.get('jobs')?.[0], first[0]), ''], items, between: '', after: '',
  }
}

/** The lines of nodes, each until the next one begins; undefined where one begins in the midst of a line. */
function lines(text: string, nodes: Node[], end: number): Span[] | undefined {
  const starts = nodes.map(({ from }) => text.lastIndexOf('\n', from - 1) + 1)
  if (nodes.some(({ from }, n) => text.slice(starts[n], from).trim() !== '')) return undefined
  return starts.map((start, n) => [start, starts[n + 1] ?? end])
}

function nameOf(text: string, pair: Node): string {
  const key = pair.getChild('Key')
  return text.slice(key?.from, key?.to).replace(/^(["'])(.*)\1$/, '$2')
}
