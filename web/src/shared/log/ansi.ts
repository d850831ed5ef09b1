import { visible } from '@/shared/text/visible'

// Output of jobs as pieces of text with classes. Nothing of it ever becomes markup.

/** A piece of a line; classes are those of log.css. */
interface Piece {
  text: string
  classes: string
}

/** Longer lines are cut on screen; the download has them whole. */
export const LONGEST_SHOWN = 4_000

const colours = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const

// Sequences of terminals: CSI, OSC (titles, links), and the short ones.
const sequence = /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[ -/]*[0-~]/g

interface Style {
  fg: string
  bg: string
  on: Set<string>
}

/** A line without what steers terminals. */
export function plain(line: string): string {
  return visible(line.replace(/\r$/, '').replace(sequence, ''))
}

/** A text of many lines, each without what steers terminals. */
export function plainText(text: string): string {
  return text.split('\n').map(plain).join('\n')
}

/** The pieces of a line. */
export function pieces(line: string): Piece[] {
  const text = line.replace(/\r$/, '')
  const found: Piece[] = []
  const style: Style = { fg: '', bg: '', on: new Set() }
  let at = 0
  let shown = 0
  const add = (part: string) => {
    const rest = visible(part).slice(0, LONGEST_SHOWN - shown)
    if (rest === '') return
    shown += rest.length
    found.push({ text: rest, classes: classesOf(style) })
  }
  for (const match of text.matchAll(sequence)) {
    add(text.slice(at, match.index))
    at = match.index + match[0].length
    if (match[2] === 'm') paint(style, match[1] ?? '')
  }
  add(text.slice(at))
  return found
}

function classesOf({ fg, bg, on }: Style): string {
  return [fg && `fg-${fg}`, bg && `bg-${bg}`, ...on].filter(Boolean).join(' ')
}

function paint(style: Style, params: string): void {
  const codes = params.split(/[;:]/).map(Number)
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0
    if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(at + 1))
      style[code === 38 ? 'fg' : 'bg'] = colour
      at += used
    } else one(style, code)
  }
}

function one(style: Style, code: number): void {
  if (code === 0) {
    style.fg = style.bg = ''
    style.on.clear()
  } else if (code === 1) style.on.add('bold')
  else if (code === 2) style.on.add('dim')
  else if (code === 3) style.on.add('italic')
  else if (code === 4) style.on.add('underline')
  else if (code === 9) style.on.add('struck')
  else if (code === 22) ['bold', 'dim'].forEach((name) => style.on.delete(name))
  else if (code === 23) style.on.delete('italic')
  else if (code === 24) style.on.delete('underline')
  else if (code === 29) style.on.delete('struck')
  else if (code === 39) style.fg = ''
  else if (code === 49) style.bg = ''
  else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) style.fg = colours[code % 10] ?? ''
  else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) style.bg = colours[code % 10] ?? ''
}

/** 256 and true colours as the nearest of the eight, which both themes can read; with the codes used. */
function extended(codes: number[]): [string, number] {
  if (codes[0] === 2) return [nearest(codes[1] ?? 0, codes[2] ?? 0, codes[3] ?? 0), 4]
  if (codes[0] !== 5) return ['', 0]
  const n = codes[1] ?? 0
  if (n < 16) return [colours[n % 8] ?? '', 2]
  if (n >= 232) return [n < 244 ? 'black' : 'white', 2]
  const cube = n - 16
  return [nearest(Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51), 2]
}

function nearest(r: number, g: number, b: number): string {
  const middle = Math.max(r, g, b) / 2
  if (middle < 32) return 'black'
  return colours[(r > middle ? 1 : 0) + (g > middle ? 2 : 0) + (b > middle ? 4 : 0)] ?? ''
}
