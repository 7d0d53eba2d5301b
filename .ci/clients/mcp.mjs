// Drives the tools for AI agents with the SDK of the Model Context Protocol, over streamable HTTP and over the bridge
// on standard input. The first argument is the program.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { strict as assert } from 'node:assert'

const base = new URL(process.env.POSTRIDER_API_URL).origin
const key = process.env.POSTRIDER_API_KEY
const binary = process.argv[2]

async function connect(transport) {
  const client = new Client({ name: 'postrider-clients', version: '1.0.0' })
  await client.connect(transport)
  return client
}
const overHTTP = (bearer) =>
  new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers: { Authorization: `Bearer ${bearer}` } } })
const overStdio = (bearer) =>
  new StdioClientTransport({ command: binary, args: ['mcp', '--base-url', base], env: { POSTRIDER_API_KEY: bearer }, stderr: 'inherit' })

// call returns the typed result. The SDK checks it against the output schema that the tool declares.
async function call(client, name, args) {
  const result = await client.callTool({ name, arguments: args })
  assert(!result.isError, `${name}: ${result.content?.map((c) => c.text).join(' ')}`)
  assert.match(result.content[1].text, /<(data-[0-9a-f]{16})>\n[^]*\n<\/\1>$/, `${name} returns data without delimiters`)
  return result.structuredContent
}

async function scenario(kind, client) {
  const { tools } = await client.listTools() // also caches the output schemas
  assert(tools.length >= 25, `${kind}: only ${tools.length} tools`)
  for (const tool of tools) assert(tool.annotations && tool.outputSchema && tool.description, `${kind}: ${tool.name} is incomplete`)
  const letter = { from: 'hello@dev.test', to: ['bob@example.net'], subject: `Over ${kind}`, text: 'Hello' }
  const checked = await call(client, 'send_email', { ...letter, dry_run: true })
  assert.equal(checked.status, 'accepted')
  const sent = await call(client, 'send_email', letter)
  assert.match(sent.id, /^msg_/)
  const again = await call(client, 'send_email', letter)
  assert.deepEqual([again.id, again.replayed], [sent.id, true])
  const read = await call(client, 'get_email', { id: sent.id })
  assert.equal(read.email.subject, letter.subject)
  for (const [name, args] of [
    ['find_emails', { to: 'bob@example.net' }], ['why_not_delivered', { email_id: sent.id }], ['domain_status', {}],
    ['email_statistics', {}], ['bounce_reasons', {}], ['list_suppressions', {}], ['list_templates', {}],
    ['list_received', {}], ['webhook_health', {}], ['events_since', {}], ['list_automations', {}],
  ]) await call(client, name, args)
  const refused = await client.callTool({ name: 'get_email', arguments: { id: 'msg_01kf0m4w7he6x8q2v5b3n9c1ta' } })
  assert(refused.isError && /Check the ID/.test(refused.content[0].text), `${kind}: an unknown ID got ${JSON.stringify(refused)}`)
  await client.close()
  return tools.length
}

const served = await scenario('HTTP', await connect(overHTTP(key)))
await scenario('stdio', await connect(overStdio(key)))
for (const [kind, transport] of [['HTTP', overHTTP], ['stdio', overStdio]]) {
  await assert.rejects(connect(transport('svc_wrong')), /401|Unauthorized|API key/, `${kind}: a wrong key connects`)
}

const made = await fetch(`${base}/api/api-keys`, {
  method: 'POST', headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
  body: JSON.stringify({ name: 'reader', scope: 'read' }),
})
const reader = await connect(overHTTP((await made.json()).secret))
const { tools } = await reader.listTools()
assert(tools.length > 5 && tools.every((t) => t.annotations.readOnlyHint), 'a read key sees a tool that writes')
await reader.close()
console.log(`clients: MCP: ${served} tools over HTTP and stdio, ${tools.length} with a read key`)
