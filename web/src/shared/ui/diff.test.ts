import { describe, expect, it } from 'vitest'
import { linesOf } from './diff'

const signs = { same: ' ', old: '-', new: '+', gap: '@' }
const shown = (before: string, after: string) => linesOf(before, after).map((l) => signs[l.sign] + (l.sign === 'gap' ? l.count : l.text))

describe('two texts', () => {
  it('that are equal have no line to show', () => expect(linesOf('a\nb\n', 'a\nb\n')).toEqual([]))
  it('differ in a line', () => expect(shown('a\nb\nc', 'a\nB\nc')).toEqual([' a', '-b', '+B', ' c']))
  it('differ at their ends', () => {
    expect(shown('first\nsame one\nsame two', 'same one\nsame two\nlast')).toEqual(['-first', ' same one', ' same two', '+last'])
    expect(shown('', 'a')).toEqual(['-', '+a'])
    expect(shown('a\n', 'a')).toEqual([' a', '-'])
  })
  it('differ by lines that are in one alone', () => {
    expect(shown('a\nb\nc', 'a\nc')).toEqual([' a', '-b', ' c'])
    expect(shown('a\nc', 'a\nb\nc')).toEqual([' a', '+b', ' c'])
  })
  it('are folded where they are equal', () => {
    const many = Array.from({ length: 20 }, (_, n) => `line ${n}`)
    const changed = many.map((text, n) => (n === 10 ? 'other' : text))
    expect(shown(many.join('\n'), changed.join('\n'))).toEqual([
      '@7', ' line 7', ' line 8', ' line 9', '-line 10', '+other', ' line 11', ' line 12', ' line 13', '@6',
    ])
  })
  it('lose no line', () => {
    const [before, after] = ['a\nb\nc\nd\ne', 'x\nb\nd\ny\ne\nz']
    const lines = linesOf(before, after)
    expect(lines.filter((l) => l.sign !== 'new').map((l) => l.text).join('\n')).toBe(before)
    expect(lines.filter((l) => l.sign !== 'old').map((l) => l.text).join('\n')).toBe(after)
  })
})
