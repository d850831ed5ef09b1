// Reads the YAML of a workflow, for its request and for the graph beside it. The server judges it: this reads what it can.
// The parser is loaded with the editor alone.
import { isNode, LineCounter, parseDocument } from 'yaml'
import type { Body } from '@/shared/text/yaml'
import type { GraphStep, Need } from '@/shared/workflow/step'

export interface Read {
  data: Body | null
  /** What makes it no YAML, and its line; empty where it can be read. */
  error: string
  line: number
  /** The line of a field, such as steps[2].needs, or of what is next above it; 0 where nothing is known. */
  lineOf: (field: string) => number
}

/** A text longer than any workflow that is taken. */
const MOST = 2_000_000

export function readSteps(text: string): Read {
  const lines = new LineCounter()
  const document = parseDocument(text.slice(0, MOST), { lineCounter: lines, prettyErrors: false })
  const lineAt = (offset: number) => lines.linePos(offset).line
  const lineOf = (field: string): number => {
    const path = field.split(/[.[\]]+/).filter(Boolean).map((part) => (/^\d+$/.test(part) ? Number(part) : part))
    for (let n = path.length; n > 0; n--) {
      const node = document.getIn(path.slice(0, n), true)
      if (isNode(node) && node.range) return lineAt(node.range[0])
    }
    return 0
  }
  const wrong = document.errors[0]
  if (wrong) return { data: null, error: wrong.message, line: lineAt(wrong.pos[0]), lineOf }
  let data: unknown
  try {
    data = document.toJS({ maxAliasCount: 100 })
  } catch (failure) {
    return { data: null, error: String(failure), line: 1, lineOf }
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return { data: null, error: '', line: 1, lineOf }
  return { data: data as Body, error: '', line: 0, lineOf }
}

const kinds = ['http', 'command', 'custom', 'job', 'approval', 'wait'] as const
const words = (value: unknown): string[] => (typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((v) => typeof v === 'string') : [])

/** The steps as far as they are written, each once by its name. */
export function drawnSteps(data: Body | null): GraphStep[] {
  const list = data?.['steps']
  const found = new Map<string, GraphStep>()
  for (const one of Array.isArray(list) ? list : []) {
    if (typeof one !== 'object' || one === null || Array.isArray(one) || typeof one['name'] !== 'string' || found.has(one['name'])) continue
    const needs = (Array.isArray(one['needs']) ? one['needs'] : []).flatMap<Need>((need) => {
      if (typeof need === 'string') return [{ step: need, on: ['success'] }]
      if (typeof need !== 'object' || need === null || Array.isArray(need) || typeof need['step'] !== 'string') return []
      const on = words(need['on'])
      return [{ step: need['step'], on: on.length > 0 ? on : ['success'] }]
    })
    found.set(one['name'], {
      name: one['name'], kind: kinds.find((kind) => one[kind] !== undefined) ?? 'none', needs, join: one['join'] === 'ANY' ? 'ANY' : 'ALL',
      when: typeof one['when'] === 'string' ? one['when'] : '', finally: one['finally'] === true, forEach: one['forEach'] ? {} : null,
    })
  }
  return [...found.values()]
}
