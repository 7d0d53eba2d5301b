// Reads the GraphQL schema of a running server as text and by introspection, which must agree. Writes it and every
// document that ships with Postrider to build, and generates typed documents from them.
import { codegen } from '@graphql-codegen/core'
import { preset } from '@graphql-codegen/client-preset'
import { buildClientSchema, buildSchema, getIntrospectionQuery, lexicographicSortSchema, parse, printSchema, validateSchema } from 'graphql'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const base = new URL(process.env.POSTRIDER_API_URL).origin
const root = '../..'

const sdl = await (await fetch(`${base}/graphql/schema.graphql`)).text()
writeFileSync('build/schema.graphql', sdl)
const schema = buildSchema(sdl)
const wrong = validateSchema(schema)
if (wrong.length) throw new Error(`the schema is invalid:\n${wrong.join('\n')}`)

// The introspection query of Apollo, GraphiQL, Insomnia and code generators, with all options.
const options = { descriptions: true, specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true, inputValueDeprecation: true, oneOf: true }
const response = await fetch(`${base}/graphql`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${process.env.POSTRIDER_API_KEY}` },
  body: JSON.stringify({ query: getIntrospectionQuery(options), operationName: 'IntrospectionQuery' }),
})
const { data, errors } = await response.json()
if (errors) throw new Error(`introspection got ${response.status} ${JSON.stringify(errors)}`)
const plain = (s) => printSchema(lexicographicSortSchema(s))
if (plain(buildClientSchema(data)) !== plain(schema)) {
  writeFileSync('build/introspected.graphql', plain(buildClientSchema(data)))
  writeFileSync('build/served.graphql', plain(schema))
  throw new Error('introspection and /graphql/schema.graphql differ: see .ci/clients/build/introspected.graphql and served.graphql')
}

const documents = []
for (const folder of ['rest/pages/dashboard/src', 'docs/queries']) {
  if (!existsSync(join(root, folder))) continue
  for (const name of readdirSync(join(root, folder), { recursive: true }).filter((f) => f.endsWith('.graphql')).sort()) {
    const text = readFileSync(join(root, folder, name), 'utf8')
    const to = join('build/documents', folder, name)
    mkdirSync(dirname(to), { recursive: true })
    writeFileSync(to, text)
    documents.push({ location: to, rawSDL: text, document: parse(text) })
  }
}
if (documents.length < 10) throw new Error(`only ${documents.length} files of documents were found`)

mkdirSync('build/typed', { recursive: true })
const outputs = await preset.buildGeneratesSection({
  baseOutputDir: 'build/typed/', schema: parse(sdl), schemaAst: schema, documents, plugins: [], pluginMap: {}, pluginContext: {},
  config: { useTypeImports: true, enumsAsTypes: true, scalars: { DateTime: 'string', JSON: 'unknown' } }, presetConfig: { fragmentMasking: false },
})
for (const output of outputs) {
  const text = await codegen(output)
  writeFileSync(output.filename, text.replaceAll(/from '(\.\/[a-z-]+)'|from "(\.\/[a-z-]+)"/g, (_, a, b) => `from '${a ?? b}.js'`))
}
console.log(`clients: GraphQL: ${Object.keys(schema.getTypeMap()).length} types, ${documents.length} files of documents`)
