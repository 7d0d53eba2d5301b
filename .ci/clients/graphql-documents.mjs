// Runs every document that ships with Postrider: those of the dashboard by id in a user session, others with an API key.
// None may return an error. Variables get a value of their type, and ids are those of the newest entry.
import { buildSchema, getNamedType, isEnumType, isInputObjectType, isListType, isNonNullType, parse, typeFromAST, visit } from 'graphql'
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'

const api = process.env.POSTRIDER_API_URL
const base = new URL(api).origin
const schema = buildSchema(readFileSync('build/schema.graphql', 'utf8'))
const byKey = { Authorization: `Bearer ${process.env.POSTRIDER_API_KEY}` }

const signedIn = await fetch(`${api}/session`, {
  method: 'POST', headers: { 'Content-Type': 'application/json', Origin: base },
  body: JSON.stringify({ email: process.env.POSTRIDER_OWNER_EMAIL, password: process.env.POSTRIDER_OWNER_PASSWORD }),
})
if (!signedIn.ok) throw new Error(`sign-in got ${signedIn.status} ${await signedIn.text()}`)
const bySession = { Origin: base, Cookie: signedIn.headers.getSetCookie().map((c) => c.split(';')[0]).join('; ') }

async function ask(who, request) {
  for (let busy = 0; ; ) {
    const response = await fetch(`${base}/graphql`, { method: 'POST', headers: { 'Content-Type': 'application/json', ...who }, body: JSON.stringify(request) })
    const text = await response.text()
    if (response.status !== 429 && (response.status !== 503 || busy++ === 5)) return { status: response.status, ...JSON.parse(text) }
    await new Promise((done) => setTimeout(done, 1000 * Number(response.headers.get('Retry-After') ?? 1)))
  }
}

// newest returns the id of the newest entry of the list that corresponds to a field with an id: `emails` for `email`.
const ids = new Map()
async function newest(field) {
  const list = schema.getQueryType().getFields()[field.endsWith('y') ? `${field.slice(0, -1)}ies` : `${field}s`]
  if (!list || !getNamedType(list.type).getFields?.().nodes) return undefined
  if (!ids.has(field)) {
    const { data } = await ask(byKey, { query: `{ ${list.name}(first: 1) { nodes { id } } }` })
    ids.set(field, data?.[list.name].nodes[0]?.id)
  }
  return ids.get(field)
}

const texts = { email: 'bob@example.net', timezone: 'Europe/Vienna', address: 'dev@dev.test' }
const hourFrom = { before: -48, gte: -24, lt: 1, since: -24, until: 1 }
function made(type, name) {
  if (isNonNullType(type)) return made(type.ofType, name)
  if (isListType(type)) return [made(type.ofType, name)]
  if (isEnumType(type)) return type.getValues()[0].name
  if (type.name === 'QueueSelection') return { destination: 'nobody.example' }
  if (isInputObjectType(type)) {
    return Object.fromEntries(Object.values(type.getFields()).filter((f) => isNonNullType(f.type) && f.defaultValue === undefined).map((f) => [f.name, made(f.type, f.name)]))
  }
  const at = new Date(Date.now() + (hourFrom[name] ?? 0) * 3_600_000).toISOString()
  return { Int: 10, Float: 1, Boolean: true, ID: name === 'templateId' ? 'tpl_none' : 'none', String: texts[name] ?? 'hello', DateTime: at }[type.name]
}

async function variablesOf(operation) {
  const root = operation.selectionSet.selections[0].name?.value
  const variables = {}
  for (const { variable, type, defaultValue } of operation.variableDefinitions) {
    if (type.kind !== 'NonNullType' || defaultValue) continue
    const known = typeFromAST(schema, type)
    const id = getNamedType(known).name === 'ID' ? await newest(/^(domain|template)Id$/.test(variable.name.value) ? variable.name.value.slice(0, -2) : root === 'nodes' ? 'email' : root) : undefined
    variables[variable.name.value] = id === undefined ? made(known, variable.name.value) : isListType(known.ofType) ? [id] : id
  }
  return variables
}

const wrong = []
let run = 0
async function check(name, who, request, document) {
  const operation = document.definitions.find((d) => d.kind === 'OperationDefinition')
  if (operation.operation === 'subscription') return
  run++
  const variables = await variablesOf(operation)
  const { status, data, errors } = await ask(who, { ...request, variables })
  if (status !== 200 || errors || !data) wrong.push(`${name} with ${JSON.stringify(variables)} got ${status} ${JSON.stringify(errors)}`)
}

const trusted = JSON.parse(readFileSync('../../rest/pages/dashboard/documents.json', 'utf8'))
for (const [hash, text] of Object.entries(trusted)) {
  if (createHash('sha256').update(text).digest('hex') !== hash) wrong.push(`${hash} is not the SHA-256 of its text`)
  const document = parse(text)
  await check(`the dashboard's ${document.definitions[0].name.value}`, bySession, { documentId: `sha256:${hash}` }, document)
}
for (const file of readdirSync('build/documents', { recursive: true }).filter((f) => f.startsWith('docs/') && f.endsWith('.graphql'))) {
  const query = readFileSync(`build/documents/${file}`, 'utf8')
  const document = parse(query)
  for (const { name } of document.definitions.filter((d) => d.kind === 'OperationDefinition')) {
    const only = visit(document, { OperationDefinition: (node) => (node.name?.value === name?.value ? undefined : null) })
    const who = /^  (auditLog|invitations|operator)\b/m.test(query) ? bySession : byKey // API keys cannot query these
    await check(`${file} ${name?.value ?? ''}`, who, { query, operationName: name?.value }, only)
  }
}
if (wrong.length) {
  console.error(`Documents that ship with Postrider fail:\n${wrong.join('\n')}`)
  process.exit(1)
}
console.log(`clients: GraphQL: ${run} documents run, ${[...ids.values()].filter(Boolean).length} of ${ids.size} kinds of entries were there`)
