// Calls every operation through the client that openapi-typescript generates from the served
// document, and rejects responses with a field that the document lacks.
import createClient, { type Client } from 'openapi-fetch'
import { readFileSync } from 'node:fs'
import type { components, paths, webhooks } from '../build/json.js'

type JSON = Record<string, unknown>
interface Call {
  op: string
  path?: Record<string, string>
  query?: JSON
  body?: JSON
  save?: Record<string, string>
  status?: number[]
  until?: Record<string, string>
  stream?: boolean
  person?: boolean
}
interface Schema {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  required?: string[]
  items?: Schema
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
}
interface Operation {
  operationId: string
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: Schema }> }>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; responses: Record<string, Operation['responses'][string]> }
}

const [callsFile = '', receiver = ''] = process.argv.slice(2)
const baseUrl = process.env.POSTRIDER_API_URL ?? ''
const client: Client<paths> = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${process.env.POSTRIDER_API_KEY ?? ''}` } })
const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as Document

// Checks of the types: the compiler rejects a misspelled field, and narrows payloads by type.
export const typed = async (): Promise<string> => {
  const { data, error } = await client.POST('/emails', {
    params: { header: {} },
    body: { from: 'hello@dev.test', to: ['bob@example.net'], subject: 'Typed', text: 'Typed' },
  })
  if (error) throw new Error(error.error.message)
  return data.id ?? ''
}
// A field with a default is optional.
export const added: components['schemas']['AddDomain'] = { name: 'example.com' }
type Bounced = webhooks['email.bounced']['post']['requestBody']['content']['application/json']
export const reason = (event: Bounced): string => {
  const type: 'email.bounced' = event.type
  const payload: components['schemas']['EmailPayload'] = event.data
  return `${type}: ${payload.bounce?.diagnostic ?? ''}`
}

const baseOrigin = new URL(baseUrl).origin
const cookies = new Map<string, string>() // by name, as a browser keeps them

const known: Record<string, string> = {
  link: process.env.POSTRIDER_LINK ?? '', ownerEmail: process.env.POSTRIDER_OWNER_EMAIL ?? '', ownerPassword: process.env.POSTRIDER_OWNER_PASSWORD ?? '',
  receiver, run: `ts${Date.now()}`,
  hourAgo: new Date(Date.now() - 3_600_000).toISOString(), inAnHour: new Date(Date.now() + 3_600_000).toISOString(),
}
const filled = <T>(value: T): T =>
  globalThis.JSON.parse(globalThis.JSON.stringify(value).replace(/\$([a-zA-Z]+)/g, (_, name: string) => {
    const found = known[name]
    if (found === undefined) throw new Error(`nothing is known of $${name}`)
    return found
  })) as T
const at = (value: unknown, path: string): unknown => path.split('.').reduce<unknown>((v, key) => (v as JSON | undefined)?.[key], value)

const component = (ref: string): Schema => document.components.schemas[ref.split('/').pop() ?? ''] ?? {}
const branches = (schemas: Schema[]): Schema[] => schemas.flatMap((s) => {
  const schema = s.$ref === undefined ? s : component(s.$ref)
  const parts = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return [schema, ...branches(parts)]
})
const anything = (s: Schema): boolean => !s.type && !s.properties && !s.required && !s.allOf && !s.anyOf && !s.oneOf
const undeclared = (schemas: Schema[], where: string, value: unknown): string[] => {
  const all = branches(schemas)
  if (all.some(anything)) return []
  if (Array.isArray(value)) return value.flatMap((item) => undeclared(all.flatMap((s) => s.items ?? []), `${where}[]`, item))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const declared = all.flatMap((s) => s.properties?.[name] ?? [])
    if (declared.length > 0) return undeclared(declared, `${where}.${name}`, member)
    return all.some((s) => s.additionalProperties) ? [] : [`${where}.${name}`]
  })
}

const nullable = (s: Schema): boolean => anything(s) || s.type === 'null' || (Array.isArray(s.type) && s.type.includes('null'))
const nulls = (schemas: Schema[], where: string, value: unknown): string[] => {
  const all = branches(schemas)
  if (value === null) return all.length === 0 || all.some(nullable) ? [] : [where]
  if (Array.isArray(value)) return value.flatMap((item) => nulls(all.flatMap((s) => s.items ?? []), `${where}[]`, item))
  if (typeof value !== 'object') return []
  return Object.entries(value).flatMap(([name, member]) => nulls(all.flatMap((s) => s.properties?.[name] ?? []), `${where}.${name}`, member))
}

const operations = new Map<string, { path: string; method: string; operation: Operation }>()
for (const [path, methods] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(methods)) operations.set(operation.operationId, { path, method, operation })
}

const request = client.request as (method: string, path: string, init: JSON) => Promise<{ data?: unknown; error?: unknown; response: Response }>

const once = async (call: Call): Promise<unknown> => {
  const found = operations.get(call.op)
  if (!found) throw new Error(`${call.op}: the document has no such operation`)
  const stop = new AbortController()
  const { data, error, response } = await request(found.method, found.path, {
    params: { path: call.path ?? {}, query: call.query ?? {} }, signal: stop.signal,
    ...(call.body ? { body: call.body } : {}),
    // A user request has a session cookie and comes from a page of the installation.
    ...(call.person ? { headers: { Authorization: null, Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '), Origin: baseOrigin } } : {}),
    parseAs: call.stream ? 'stream' : (Object.entries(found.operation.responses).some(([status, answer]) => status.startsWith('2') && answer.content?.['application/json']) ? 'json' : 'text'),
  })
  for (const given of response.headers.getSetCookie()) {
    const pair = given.split(';')[0] ?? ''
    cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
  }
  if (!(call.status ?? [200]).includes(response.status)) throw new Error(`${call.op}: got ${response.status} ${globalThis.JSON.stringify(error)}, want ${call.status ?? 200}`)
  if (call.stream) {
    const event = await firstEvent(data as ReadableStream<Uint8Array>)
    stop.abort()
    compare(call.op, { $ref: 'LoggedEvent' }, event)
    return event
  }
  const answer = response.ok ? data : error
  let described = found.operation.responses[String(response.status)]
  if (described?.$ref) described = document.components.responses[described.$ref.split('/').pop() ?? '']
  if (!described) throw new Error(`${call.op}: the document has no answer ${response.status}`)
  const schema = described.content?.['application/json']?.schema
  if (schema) compare(call.op, schema, answer)
  return answer
}

// Rejects a response with a field that the document lacks, or null where the document does not allow it.
const compare = (op: string, schema: Schema, answer: unknown): void => {
  const extra = undeclared([schema], '', answer)
  if (extra.length > 0) throw new Error(`${op}: the document lacks ${extra.join(', ')}`)
  const empty = nulls([schema], '', answer)
  if (empty.length > 0) throw new Error(`${op}: null where the document does not allow it: ${empty.join(', ')}`)
}

const firstEvent = async (stream: ReadableStream<Uint8Array>): Promise<unknown> => {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    const data = /^data: ?(.+)\n/m.exec(text)?.[1]
    if (data) return globalThis.JSON.parse(data)
  }
  throw new Error('the stream ended without an event')
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))
const arrived = (answer: unknown, until: Record<string, string>): boolean =>
  Object.entries(until).every(([path, want]) => want === '*' ? at(answer, path) !== undefined : at(answer, path) === want)

const called = new Set<string>()
await typed()
for (const raw of globalThis.JSON.parse(readFileSync(callsFile, 'utf8')) as Call[]) {
  const call = filled(raw)
  let answer = await once(call)
  for (const end = Date.now() + 60_000; call.until && !arrived(answer, call.until); answer = await once(call)) {
    if (Date.now() > end) throw new Error(`${call.op}: waited a minute for ${globalThis.JSON.stringify(call.until)}, got ${globalThis.JSON.stringify(answer)}`)
    await pause(200)
  }
  for (const [name, path] of Object.entries(call.save ?? {})) {
    const value = at(answer, path)
    if (typeof value !== 'string') throw new Error(`${call.op}: its answer has no ${path}: ${globalThis.JSON.stringify(answer)}`)
    known[name] = value
  }
  called.add(call.op)
}
const left = [...operations.keys()].filter((op) => !called.has(op))
if (left.length > 0) throw new Error(`operations that no call is made of: ${left.join(', ')}`)
console.log(`TypeScript: ${called.size} operations called, every answer is what the document says`)
process.exit(0)
