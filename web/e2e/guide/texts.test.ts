// The user guide says the same in both languages. Each picture is there, is shown, and is one that `make guide` makes.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { pictures } from './pages'
import { folder, shownPictures } from './shown'

const guide = path.resolve(import.meta.dirname, '../../../docs/guide')
const languages = ['en', 'zh-CN'] as const
const read = (language: string, file: string) => readFileSync(path.join(guide, language, file), 'utf8')
const chapters = (language: string) => readdirSync(path.join(guide, language)).sort()

/** What both languages share: the order of headings, pictures, links and blocks of code. */
function shape(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    if (/^#+ /.test(line)) return [/^#+( \d+\.)?/.exec(line)?.[0] ?? '']
    if (/^(```|\d+\. )/.test(line)) return [/^(```\w*|\d+\.)/.exec(line)?.[0] ?? '']
    return [...line.matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, address = '']) => address.replace(/\/(en|zh-CN)\//, '/'))
  })
}

/** The addresses of a text. */
const links = (text: string) => [...text.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, address = '']) => address)

describe('the user guide', () => {
  it('has the same chapters in both languages', () => expect(chapters('zh-CN')).toEqual(chapters('en')))

  it.each(chapters('en'))('has the same headings, lists and pictures in both languages: %s', (file) => {
    expect(shape(read('zh-CN', file))).toEqual(shape(read('en', file)))
  })

  it.each(languages.flatMap((l) => chapters(l).map((file) => [l, file] as const)))('links what exists: %s/%s', (language, file) => {
    const text = read(language, file)
    expect(links(text).filter((address) => !existsSync(path.join(guide, language, address)))).toEqual([])
    for (const address of links(text).filter((a) => a.endsWith('.webp'))) expect(address).toContain(`/${language}/`)
  })

  it.each(languages)('names every chapter in its contents: %s', (language) => {
    const named = links(read(language, 'README.md')).filter((address) => /^\d/.test(address))
    expect(named).toEqual(chapters(language).filter((file) => file !== 'README.md'))
  })

  it('has the pictures that the documents show, and no others', () => {
    const there = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.includes(path.sep)).sort()
    expect(there).toEqual(shownPictures())
  })

  it('makes the pictures that the documents show, and no others', () => {
    const names = shownPictures().map((file) => path.basename(file).replace(/-(dark|light)\.webp$/, ''))
    expect(pictures.map(({ name }) => name).sort()).toEqual([...new Set(names)].sort())
  })
})
