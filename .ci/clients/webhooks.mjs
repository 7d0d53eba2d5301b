// Verifies real deliveries with the libraries that receivers use: standardwebhooks (for Node.js and for Go), svix and
// resend. Each must accept the request as it came, and refuse a changed body, another secret and an old time. It also
// rotates the secret: both must verify then. The first argument is the program go/verify.
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import { Resend } from 'resend'
import { Webhook as Standard } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'

const deliveries = []
let arrived = () => {}
const server = createServer(async (request, answer) => {
  let body = ''
  for await (const part of request) body += part
  answer.writeHead(204).end()
  deliveries.push({ headers: request.headers, body })
  arrived()
})
await new Promise(listening => server.listen(0, '127.0.0.1', listening))

const call = async (method, path, body) => {
  const answer = await fetch(process.env.POSTRIDER_API_URL + path, {
    method,
    headers: { Authorization: `Bearer ${process.env.POSTRIDER_API_KEY}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}
const fail = text => { throw new Error(text) }

/** deliver sends an event and returns the request that the endpoint received. */
async function deliver() {
  deliveries.length = 0
  const waits = new Promise((resolve, reject) => {
    arrived = resolve
    setTimeout(() => reject(new Error('no delivery within a minute')), 60_000).unref()
  })
  await call('POST', '/emails/test', { event: 'email.delivered' })
  await waits
  return deliveries[0]
}

const resend = new Resend('re_unused')
const libraries = {
  standardwebhooks: (secret, body, headers) => new Standard(secret).verify(body, headers),
  'standardwebhooks for Go': (secret, body, headers) =>
    execFileSync(process.argv[2], { input: JSON.stringify({ secret, body, headers }), stdio: ['pipe', 'ignore', 'ignore'] }),
  svix: (secret, body, headers) => new Svix(secret).verify(body, headers),
  resend: (secret, payload, h) => resend.webhooks.verify({ payload, webhookSecret: secret, headers: {
    id: h['webhook-id'], timestamp: h['webhook-timestamp'], signature: h['webhook-signature'] } }),
}

function check(secret, { headers, body }) {
  const other = 'whsec_' + Buffer.alloc(32, 7).toString('base64')
  const old = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 3600) }
  for (const [name, verify] of Object.entries(libraries)) {
    verify(secret, body, headers) // throws unless it accepts
    for (const [what, refused] of Object.entries({
      'a changed body': () => verify(secret, body.replace('email.delivered', 'email.bounced'), headers),
      'another secret': () => verify(other, body, headers),
      'an old time': () => verify(secret, body, old),
    })) {
      let accepted = true
      try { refused() } catch { accepted = false }
      if (accepted) fail(`${name} accepts ${what}`)
    }
  }
  if (headers['webhook-id'] !== headers['service-event-id']) fail(`webhook-id is ${headers['webhook-id']}, want the id of the event`)
}

const { webhook, secret } = await call('POST', '/webhooks',
  { url: `http://127.0.0.1:${server.address().port}/hook`, events: ['email.delivered'] })
check(secret, await deliver())
const rotated = await call('POST', `/webhooks/${webhook.id}/rotate-secret`)
const both = await deliver()
check(rotated.secret, both)
check(secret, both)
await call('DELETE', `/webhooks/${webhook.id}`)
server.close()
server.closeAllConnections()
console.log(`clients: webhooks: ${Object.keys(libraries).join(', ')} verify deliveries, also during a rotation`)
