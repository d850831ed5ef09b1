// Prints what the first page loads, and fails above the budget: everything before the
// first overview can be used, in gzip, without charts and the editor, which load when shown.
import { readFile, rm } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'

const budget = 300 * 1024
const dist = new URL('../dist/', import.meta.url)
const manifest = JSON.parse(await readFile(new URL('.vite/manifest.json', dist), 'utf8'))

// What the start imports, the texts of the greater language, and the page that opens first.
const roots = ['index.html', 'src/shared/text/language.zh-CN.ts', ...pagesOf('overview')]
const late = [/shared\/ui\/chart/i, /shared\/ui\/editor/i]
const files = new Set()
const seen = new Set()

function pagesOf(feature) {
  return Object.keys(manifest).filter((k) => k.startsWith(`src/features/${feature}/pages/`))
}

function visit(key) {
  const chunk = manifest[key]
  if (!chunk || seen.has(key) || late.some((l) => l.test(key))) return
  seen.add(key)
  files.add(chunk.file)
  for (const css of chunk.css ?? []) files.add(css)
  for (const next of chunk.imports ?? []) visit(next)
}
roots.forEach(visit)

const sizes = []
for (const file of files) {
  sizes.push([file, gzipSync(await readFile(new URL(file, dist)), { level: 9 }).length])
}
sizes.sort((a, b) => b[1] - a[1])
const total = sizes.reduce((sum, [, size]) => sum + size, 0)
const kb = (n) => `${(n / 1024).toFixed(1)} KB`
for (const [file, size] of sizes) console.log(`${kb(size).padStart(10)}  ${file}`)
console.log(`${kb(total).padStart(10)}  first load in gzip, of ${kb(budget)}`)
await rm(new URL('.vite', dist), { recursive: true })
if (total > budget) {
  console.error('the first load is over its budget: load what is not needed at once by import()')
  process.exit(1)
}
