import { CompletionContext } from '@codemirror/autocomplete'
import { EditorState } from '@codemirror/state'
import { describe, expect, it } from 'vitest'
import { offersAt } from './completion'

const offers = [{ text: '${params.day}', note: 'a parameter' }, { text: '${jobName}', note: 'the name' }]

/** What is offered where `|` stands, and the text that it replaces. */
function at(marked: string): { replaces: string; offered: string[] } | null {
  const pos = marked.indexOf('|')
  const state = EditorState.create({ doc: marked.replace('|', '') })
  const found = offersAt(new CompletionContext(state, pos, false), offers)
  return found && { replaces: state.sliceDoc(found.from, pos), offered: found.options.map((o) => o.label) }
}

describe('placeholders in an editor', () => {
  it.each([
    ['{"day": "${|', '${'],
    ['{"day": "${|}"}', '${'],
    ['a ${params.d| b', '${params.d'],
    ['${a}${jo|', '${jo'],
    ['$$${|', '${'],
  ])('are offered in %s', (text, replaces) => {
    expect(at(text)).toEqual({ replaces, offered: ['${params.day}', '${jobName}'] })
  })

  it.each(['{|', '$|', '$${|', '$${na|', '${jobName}|', 'a|', '|'])('are not offered in %s', (text) => {
    expect(at(text)).toBeNull()
  })
})
