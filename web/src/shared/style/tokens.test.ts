import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const css = readFileSync('src/shared/style/tokens.css', 'utf8')

/** The tokens of a theme that are colours. */
function theme(selector: string): Record<string, string> {
  const block = css.slice(css.indexOf(`${selector} {`))
  const body = block.slice(0, block.indexOf('\n}'))
  return Object.fromEntries([...body.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map((m) => [m[1], m[2]]))
}

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const c = parseInt(colour.slice(at, at + 2), 16) / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (light + 0.05) / (dark + 0.05)
}

const texts = ['text', 'text-2', 'text-3', 'accent']
const surfaces = ['bg', 'surface', 'surface-2']
const tones = ['good', 'run', 'warn', 'bad', 'dead', 'wait', 'off']

describe.each([':root', ':root.dark'])('the colours of %s', (selector) => {
  const colours = theme(selector)
  const of = (name: string) => colours[name] ?? 'missing'

  it.each(texts.flatMap((t) => surfaces.map((s) => [t, s] as const)))('%s reads on %s', (text, surface) => {
    expect(contrast(of(text), of(surface))).toBeGreaterThanOrEqual(4.5)
  })
  it.each(tones)('%s reads on its own ground and on the page', (tone) => {
    for (const ground of [`${tone}-soft`, 'surface', 'bg', 'surface-2']) {
      expect(contrast(of(tone), of(ground)), ground).toBeGreaterThanOrEqual(4.5)
    }
  })
  it.each(['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'])('%s of logs reads, also as their ground', (colour) => {
    for (const other of ['surface', 'surface-2', 'accent-soft']) {
      expect(contrast(of(`ansi-${colour}`), of(other)), other).toBeGreaterThanOrEqual(4.5)
    }
  })
  it('reads on the accent, and shows the lines of fields', () => {
    expect(contrast(of('on-accent'), of('accent'))).toBeGreaterThanOrEqual(4.5)
    expect(contrast(of('accent'), of('accent-soft'))).toBeGreaterThanOrEqual(4.5)
    expect(contrast(of('field-line'), of('surface'))).toBeGreaterThanOrEqual(3)
  })
})
