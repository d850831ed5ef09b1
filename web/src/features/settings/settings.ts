import type { Setting } from './queries'

/** The settings of one part: `engine` of `engine.beatMs`; those without a part are `general`. */
export interface Section {
  name: string
  items: Setting[]
}

function sectionOf(name: string): string {
  return name.includes('.') ? name.slice(0, name.indexOf('.')) : 'general'
}

/** The settings that match, by their parts, in the order of the server. */
export function sectionsOf(items: readonly Setting[], text: string, changedOnly: boolean): Section[] {
  const sections = new Map<string, Setting[]>()
  const part = text.trim().toLowerCase()
  for (const item of items) {
    if (changedOnly && item.source === 'DEFAULT') continue
    if (part && ![item.name, item.variable, item.meaning].some((words) => words.toLowerCase().includes(part))) continue
    const name = sectionOf(item.name)
    sections.set(name, [...(sections.get(name) ?? []), item])
  }
  return [...sections].map(([name, found]) => ({ name, items: found }))
}

/** A value as people write it; empty where there is none. */
export function valueOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(String).join(', ')
  if (typeof value === 'object') return Object.entries(value).map(([k, v]) => `${k}=${String(v)}`).join(', ')
  return String(value)
}

/** A meaning without the signs of Markdown: code and links are shown as their words. */
export function plain(text: string): string {
  return text.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replace(/`([^`]*)`/g, '$1')
}
