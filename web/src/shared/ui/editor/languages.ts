import { json } from '@codemirror/lang-json'
import { yaml } from '@codemirror/lang-yaml'
import { StreamLanguage, type StreamParser } from '@codemirror/language'
import { javascript } from '@codemirror/legacy-modes/mode/javascript'
import { perl } from '@codemirror/legacy-modes/mode/perl'
import { python } from '@codemirror/legacy-modes/mode/python'
import { shell } from '@codemirror/legacy-modes/mode/shell'
import type { Extension } from '@codemirror/state'

/** The languages that the editor colours. Anything else is a text. */
export type Language = 'json' | 'yaml' | 'shell' | 'python' | 'perl' | 'javascript' | 'text'

const streams: Partial<Record<Language, StreamParser<unknown>>> = { shell, python, perl, javascript }

export function grammarOf(language: Language | undefined): Extension {
  if (language === 'json') return json()
  if (language === 'yaml') return yaml()
  const stream = language && streams[language]
  return stream ? StreamLanguage.define(stream) : []
}
