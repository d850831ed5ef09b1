// Which pictures the documents show. `make guide` makes these and no others.
import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../../..')

/** Where the pictures of the guide are: in a folder for each language. */
export const folder = path.join(root, 'docs/guide/images')

/** The file of a picture, below the folder. */
export const fileOf = (language: string, name: string, theme: string) => `${language}/${name}-${theme}.webp`

/** Every picture of the guide that README.md or a page of docs shows, sorted. */
export function shownPictures(): string[] {
  const pages = ['.', 'docs', 'docs/guide/en', 'docs/guide/zh-CN'].flatMap((dir) =>
    readdirSync(path.join(root, dir)).filter((file) => file.endsWith('.md')).map((file) => path.join(root, dir, file)))
  const addresses = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/[\w./-]+\.webp/g)].map(([address]) => path.resolve(path.dirname(page), address)))
  const ours = addresses.filter((file) => file.startsWith(folder)).map((file) => path.relative(folder, file))
  return [...new Set(ours)].sort()
}
