import { describe, expect, it } from 'vitest'
import { LONGEST_SHOWN, pieces, plain } from './ansi'

describe('a line of a log', () => {
  it('takes colours and weights, and gives them back', () => {
    expect(pieces('a \x1b[1;31mred\x1b[0m b')).toEqual([
      { text: 'a ', classes: '' }, { text: 'red', classes: 'fg-red bold' }, { text: ' b', classes: '' },
    ])
    expect(pieces('\x1b[97;44mx\x1b[39;49my')).toEqual([{ text: 'x', classes: 'fg-white bg-blue' }, { text: 'y', classes: '' }])
  })
  it('takes the nearest of eight for 256 and true colours', () => {
    expect(pieces('\x1b[38;5;196mx\x1b[38;2;0;250;0my')).toEqual([{ text: 'x', classes: 'fg-red' }, { text: 'y', classes: 'fg-green' }])
    expect(pieces('\x1b[38;2;0;0;250;1mx')[0]?.classes).toBe('fg-blue bold')
  })
  it('drops what moves the cursor, sets titles and links', () => {
    expect(plain('\x1b[2K\x1b[1Gdone\x1b]0;evil title\x07 \x1b]8;;https://x.invalid\x1b\\link\x1b]8;;\x1b\\')).toBe('done link')
  })
  it('shows controls and what turns text around', () => {
    expect(plain('a\x00b\x07c\x7f\u202Egnp.exe\u2066')).toBe('a␀b␇c␡⟨202E⟩gnp.exe⟨2066⟩')
  })
  it('keeps markup as text', () => {
    expect(pieces('<img src=x onerror=alert(1)>')).toEqual([{ text: '<img src=x onerror=alert(1)>', classes: '' }])
  })
  it('cuts what is too long for the screen', () => {
    expect(pieces('x'.repeat(100_000))[0]?.text).toHaveLength(LONGEST_SHOWN)
  })
})
