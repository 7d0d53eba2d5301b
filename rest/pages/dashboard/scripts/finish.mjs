// Finishes a build: fails if a class of the sources has no style, prints the size of each part, fails if one exceeds
// its budget, and leaves the assets compressed instead of plain: with gzip, and those before the first rows with
// brotli as well. Everything with both would add half a megabyte to the binary.
import { readFileSync, readdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { findMissingClasses, readFolder } from './classes.mjs'

const dist = join(dirname(fileURLToPath(import.meta.url)), '../dist')
const budget = { part: 200, rows: 134 } // KB: a part with gzip, and everything before the rows of a list with brotli
const listed = '/emails'

const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'))
function filesOf(key, files = new Set()) {
  const part = manifest[key]
  if (files.has(part.file)) return files
  files.add(part.file)
  for (const css of part.css ?? []) files.add(css)
  for (const other of part.imports ?? []) filesOf(other, files)
  return files
}
const first = filesOf('index.html')

const list = Object.keys(manifest).find((key) => manifest[key].name === 'list') // see chunks.ts; it contains Queries.tsx

// routes are the files that each route needs in addition to the first ones. The server writes links to them.
const routes = {}
for (const [name, text] of readFolder(join(dist, '../src/screens'), /screen\.ts$/)) {
  for (const [, path, file] of text.matchAll(/path: '([^']+)', .*?import\('\.\/(\w+)'\)/g)) {
    const files = filesOf(`src/screens/${basename(dirname(name))}/${file}.tsx`)
    for (const more of [list, 'src/app/screens.css']) filesOf(more, files)
    routes[path] = [...files].filter((f) => !first.has(f)).map((f) => `/${f}`)
  }
}
if (!routes[listed]) throw new Error(`The screens have no route ${listed}`)
writeFileSync(join(dist, 'routes.json'), JSON.stringify(routes))

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

const needed = new Set([...first, ...routes[listed].map((f) => f.slice(1))])
const sizes = new Map()
const packed = new Map()
for (const name of readdirSync(join(dist, 'assets'))) {
  const path = join(dist, 'assets', name)
  const plain = readFileSync(path)
  const zipped = gzipSync(plain, { level: 9 })
  sizes.set(`assets/${name}`, zipped.length / 1024)
  writeFileSync(`${path}.gz`, zipped)
  if (needed.has(`assets/${name}`)) {
    const small = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length } })
    packed.set(`assets/${name}`, small.length / 1024)
    writeFileSync(`${path}.br`, small)
  }
  unlinkSync(path)
}
rmSync(join(dist, '.vite'), { recursive: true })
writeFileSync(join(dist, '.gitkeep'), '')

const over = []
for (const [name, size] of [...sizes].sort(([, a], [, b]) => b - a)) {
  if (!first.has(name) && size > budget.part) over.push(`${name} has ${size.toFixed(1)} KB; a part may have ${budget.part}`)
  console.log(`${size.toFixed(1).padStart(7)} KB  ${first.has(name) ? 'first' : needed.has(name) ? 'list ' : 'lazy '}  ${name}`)
}
const total = [...needed].reduce((sum, name) => sum + packed.get(name), 0)
console.log(`${total.toFixed(1).padStart(7)} KB  before the rows of ${listed}, brotli, of ${budget.rows}`)
if (total > budget.rows) over.push(`${total.toFixed(1)} KB load before the rows of ${listed}; the limit is ${budget.rows}`)
if (over.length) {
  console.error(`Over budget:\n  ${over.join('\n  ')}`)
  process.exit(1)
}
