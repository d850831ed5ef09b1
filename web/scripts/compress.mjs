// Writes NAME.br and NAME.gz beside each text of the build, so that the server compresses nothing.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import path from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const dist = fileURLToPath(new URL('../dist', import.meta.url))
const texts = new Set(['.js', '.css', '.svg', '.json', '.txt'])
const smallest = 1024

// The manifest tells scripts/size.mjs what the first page loads; nobody else needs it.
for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
  const name = path.join(entry.parentPath ?? entry.path, entry.name)
  if (!entry.isFile() || !texts.has(path.extname(name)) || name.includes(`${path.sep}.vite${path.sep}`)) continue
  const content = await readFile(name)
  if (content.length < smallest) continue
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
  await writeFile(`${name}.br`, brotliCompressSync(content, { params }))
  await writeFile(`${name}.gz`, gzipSync(content, { level: 9 }))
}

// emptyOutDir took away the one committed file of the folder.
await writeFile(path.join(dist, '.gitkeep'), '')
await rm(path.join(dist, 'index.html.br'), { force: true })
await rm(path.join(dist, 'index.html.gz'), { force: true })
