// Finishes a build: fails if a class of the sources has no style, prints the size of each part, fails if one exceeds
// its budget, and leaves the assets compressed (gzip and brotli) instead of plain.
import { readFileSync, readdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { findMissingClasses, readFolder } from './classes.mjs'

const dist = join(dirname(fileURLToPath(import.meta.url)), '../dist')
const budget = { first: 120, part: 200 } // KB, gzip

const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'))
const first = new Set()
function load(key) {
  const part = manifest[key]
  if (first.has(part.file)) return
  first.add(part.file)
  for (const css of part.css ?? []) first.add(css)
  for (const other of part.imports ?? []) load(other)
}
load('index.html')

// Files that import each other in a circle may run before what they need is there.
const imports = new Map(readdirSync(join(dist, 'assets')).filter((f) => f.endsWith('.js')).map((f) => [f, [...readFileSync(join(dist, 'assets', f), 'utf8').matchAll(/(?:from|import)"\.\/([^"]+)"/g)].map(([, other]) => other)]))
const done = new Set()
function circle(file, path) {
  if (path.includes(file)) throw new Error(`The files ${[...path.slice(path.indexOf(file)), file].join(' -> ')} import each other: see scripts/chunks.ts`)
  if (done.has(file)) return
  for (const other of imports.get(file) ?? []) circle(other, [...path, file])
  done.add(file)
}
for (const file of imports.keys()) circle(file, [])

const styles = readFolder(join(dist, 'assets'), /\.css$/).map(([, text]) => text).join('\n')
const missing = findMissingClasses(readFolder(join(dist, '../src'), /(?<!\.test|\.gen)\.tsx?$/), styles)
if (missing.length) {
  console.error(`Classes without a style:\n  ${missing.join('\n  ')}`)
  process.exit(1)
}

const sizes = new Map()
for (const name of readdirSync(join(dist, 'assets'))) {
  const path = join(dist, 'assets', name)
  const plain = readFileSync(path)
  const zipped = gzipSync(plain, { level: 9 })
  sizes.set(`assets/${name}`, zipped.length / 1024)
  writeFileSync(`${path}.gz`, zipped)
  writeFileSync(`${path}.br`, brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length } }))
  unlinkSync(path)
}
rmSync(join(dist, '.vite'), { recursive: true })
writeFileSync(join(dist, '.gitkeep'), '')

const over = []
let total = 0
for (const [name, size] of [...sizes].sort(([, a], [, b]) => b - a)) {
  const now = first.has(name)
  if (now) total += size
  else if (size > budget.part) over.push(`${name} has ${size.toFixed(1)} KB; a part may have ${budget.part}`)
  console.log(`${size.toFixed(1).padStart(7)} KB  ${now ? 'first' : 'lazy '}  ${name}`)
}
console.log(`${total.toFixed(1).padStart(7)} KB  first load, gzip, of ${budget.first}`)
if (total > budget.first) over.push(`the first load has ${total.toFixed(1)} KB; it may have ${budget.first}`)
if (over.length) {
  console.error(`Over budget:\n  ${over.join('\n  ')}`)
  process.exit(1)
}
