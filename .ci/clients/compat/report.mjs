// What the scripts of this folder share: a receiver of webhooks, and the table of calls.
import { createServer } from 'node:http'
import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const rows = []
const problems = []

export function check(holds, message) {
  if (!holds) problems.push(message)
}

export async function until(what, find) {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline;) {
    const found = await find()
    if (found) return found
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  problems.push(`waited 30 seconds for ${what}`)
}

// A call that must return data for which `holds` is true.
export async function usable(name, call, holds = () => true) {
  const { data, error } = await Promise.resolve(call).catch(thrown => ({ error: thrown }))
  const good = data != null && await Promise.resolve().then(() => holds(data)).catch(thrown => { problems.push(`${name}: ${thrown}`); return false })
  rows.push([name, good ? 'usable' : 'wrong'])
  if (!good) problems.push(`${name} got ${JSON.stringify(data)} ${error?.message ?? JSON.stringify(error)}`)
  return data
}

// A call that has to be refused with a sentence.
export async function refused(name, call, sentence = /not supported/) {
  const { data, error } = await call
  const good = error && [400, 404, 501].includes(error.statusCode) && sentence.test(error.message)
  rows.push([name, good ? `refused: ${error.statusCode} ${error.message}` : 'wrong'])
  if (!good) problems.push(`${name} got ${JSON.stringify(data)} ${JSON.stringify(error)}, want a refusal that names the feature`)
}

export function finish(provider, goal) {
  const good = rows.filter(([, result]) => result === 'usable').length
  for (const [name, result] of rows) console.log(`  ${name.padEnd(36)} ${result}`)
  console.log(`clients: ${provider}: ${good} of ${rows.length} calls return a usable answer`)
  if (good < goal) problems.push(`${good} calls of ${provider} return a usable answer, want at least ${goal}`)
  for (const problem of problems) console.error(problem)
  process.exit(problems.length ? 1 : 0)
}

export const newDomain = () => `c${Date.now().toString(36)}.example`

// Brings a message with an attachment to the development server.
export async function inbound() {
  execFileSync(process.execPath, [join(dirname(fileURLToPath(import.meta.url)), '..', 'bring.mjs'), process.env.POSTRIDER_INBOUND_ADDR])
}

// A webhook endpoint that keeps the requests it receives.
export async function receiver() {
  const requests = []
  const server = createServer((request, answer) => {
    const chunks = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      requests.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      answer.writeHead(204).end()
    })
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return { url: `http://127.0.0.1:${server.address().port}/hook`, requests }
}

// Calls our own API.
export async function own(method, path, body) {
  const answer = await fetch(process.env.POSTRIDER_API_URL + path, { method, body: body && JSON.stringify(body),
    headers: { Authorization: `Bearer ${process.env.POSTRIDER_API_KEY}`, ...(body && { 'Content-Type': 'application/json' }) } })
  return answer.json()
}
