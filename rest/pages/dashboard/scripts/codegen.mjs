// Writes what the app knows of the API: beside every `x.graphql` a `x.gen.ts` with its types and
// documents, the manifest `documents.json` of all documents by their SHA-256, the types of the REST API,
// and the list of step types of automations. With --check it writes nothing and fails when something is stale.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { codegen } from '@graphql-codegen/core'
import * as operations from '@graphql-codegen/typescript-operations'
import { Kind, buildASTSchema, parse, print, validate, visit } from 'graphql'
import { restTypes } from './openapi.mjs'
import { stepKinds } from './steps.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const check = process.argv.includes('--check')
const header = '// Written by `npm run codegen`; do not edit.\n'

const schemaDir = join(root, '../../../graph/schema')
const sdl = parse(readdirSync(schemaDir).filter((f) => f.endsWith('.graphqls')).sort().map((f) => readFileSync(join(schemaDir, f), 'utf8')).join('\n'))
const schema = buildASTSchema(sdl, { assumeValidSDL: true })

function filesUnder(dir, ending) {
  return readdirSync(dir, { recursive: true }).filter((f) => f.endsWith(ending)).sort().map((f) => join(dir, f))
}

const sources = filesUnder(join(root, 'src'), '.graphql').map((path) => ({ path, document: parse(readFileSync(path, 'utf8')) }))
const fragments = new Map()
for (const { path, document } of sources) {
  for (const d of document.definitions) {
    if (d.kind !== Kind.FRAGMENT_DEFINITION) continue
    if (fragments.has(d.name.value)) throw new Error(`${path}: the fragment ${d.name.value} is there twice`)
    fragments.set(d.name.value, d)
  }
}

// needed are the fragments that a definition spreads, and those that these spread.
function needed(definition, found = new Map()) {
  visit(definition, {
    FragmentSpread(node) {
      const name = node.name.value
      if (found.has(name)) return
      if (!fragments.has(name)) throw new Error(`there is no fragment ${name}`)
      found.set(name, fragments.get(name))
      needed(fragments.get(name), found)
    },
  })
  return found
}

const written = new Map()
const manifest = {}
const names = new Set()
for (const { path, document } of sources) {
  const external = new Map()
  for (const d of document.definitions) needed(d, external)
  const own = new Set(document.definitions.filter((d) => d.kind === Kind.FRAGMENT_DEFINITION).map((d) => d.name.value))
  const whole = { kind: Kind.DOCUMENT, definitions: [...document.definitions, ...[...external].filter(([name]) => !own.has(name)).map(([, d]) => d)] }
  const wrong = validate(schema, whole).filter((e) => !/is never used/.test(e.message))
  if (wrong.length) throw new Error(`${path}:\n${wrong.map((e) => `  ${e.message} (line ${e.locations?.[0]?.line})`).join('\n')}`)
  let out = await codegen({
    schema: sdl, schemaAst: schema, documents: [{ location: path, document: whole }], filename: path, plugins: [{ operations: {} }], pluginMap: { operations },
    config: { scalars: { DateTime: 'string', JSON: 'unknown', ID: 'string' }, enumsAsTypes: true, skipTypename: true, inlineFragmentTypes: 'combine', useTypeImports: true },
  })
  out = out.replace(/\/\*\* Internal type\. DO NOT USE DIRECTLY\. \*\/\nexport type Incremental<.*\n/, '')
  const documents = []
  for (const d of document.definitions) {
    if (d.kind !== Kind.OPERATION_DEFINITION) continue
    const name = d.name?.value
    if (!name || names.has(name)) throw new Error(`${path}: an operation needs a name of its own (${name})`)
    names.add(name)
    const text = print({ kind: Kind.DOCUMENT, definitions: [d, ...needed(d).values()] })
    const hash = createHash('sha256').update(text).digest('hex')
    manifest[hash] = text
    const type = name + d.operation[0].toUpperCase() + d.operation.slice(1)
    documents.push(`export const ${name} = gql<${type}, ${type}Variables>('${name}', '${hash}', import.meta.env.DEV ? ${JSON.stringify(text)} : undefined)`)
  }
  const up = documents.length ? `import { gql } from '@/api/document'\n\n` : ''
  written.set(path.replace(/\.graphql$/, '.gen.ts'), `${header}${up}${out.trim()}\n\n${documents.join('\n')}\n`)
}
const sorted = Object.fromEntries(Object.entries(manifest).sort(([a], [b]) => (a < b ? -1 : 1)))
written.set(join(root, 'documents.json'), JSON.stringify(sorted, null, 1) + '\n')
const api = JSON.parse(readFileSync(join(root, '../../api/testdata/openapi.json'), 'utf8'))
written.set(join(root, 'src/api/rest.gen.ts'), header + restTypes(api))
written.set(join(root, 'src/screens/automations/steps/kinds.gen.ts'), header + stepKinds(api))

let stale = 0
for (const [path, text] of written) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  stale++
  if (check) console.error(`stale: ${path}`)
  else writeFileSync(path, text)
}
for (const path of filesUnder(join(root, 'src'), '.gen.ts')) {
  if (written.has(path)) continue
  stale++
  if (check) console.error(`left over: ${path}`)
  else unlinkSync(path)
}
if (check && stale) {
  console.error('The dashboard does not have what its sources generate: run npm run codegen in rest/pages/dashboard and commit.')
  process.exit(1)
}
console.log(`codegen: ${names.size} documents, ${check ? 'fresh' : `${stale} files changed`}`)
