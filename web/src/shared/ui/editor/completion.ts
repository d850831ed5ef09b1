import { insertCompletionText, type Completion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete'
import { EditorState, type Extension } from '@codemirror/state'
import type { EditorView } from '@codemirror/view'

/** An offer while somebody writes `${…`: the whole text, and what it means. */
export interface Offer {
  text: string
  note: string
}

/** Puts the chosen text in the place of what was written, with the bracket that the editor has closed. */
function put(view: EditorView, chosen: Completion, from: number, to: number): void {
  const closed = view.state.sliceDoc(to, to + 1) === '}' ? 1 : 0
  view.dispatch(insertCompletionText(view.state, chosen.label, from, to + closed))
}

/** Offers what begins as the words behind the last `${` do, up to its bracket. `$${` is a plain text, and offers nothing. */
export function offersAt(context: CompletionContext, offers: readonly Offer[]): CompletionResult | null {
  const before = context.matchBefore(/\$*\{[\w.:+-]*/)
  const dollars = before?.text.indexOf('{') ?? 0
  if (!before || dollars % 2 === 0) return null
  return {
    from: before.from + dollars - 1,
    options: offers.map((o) => ({ label: o.text, detail: o.note, type: 'variable', apply: put })),
    validFor: /^\$\{[\w.:+-]*$/,
  }
}

/** The extension that offers them. `offers` is asked each time. */
export function completion(offers: () => readonly Offer[]): Extension {
  // One source: the editor drops the answer of a source that it does not know from before.
  const data = [{ autocomplete: (context: CompletionContext) => offersAt(context, offers()) }]
  return EditorState.languageData.of(() => data)
}
