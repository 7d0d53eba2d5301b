// The end-to-end test of an application outside of Postrider, with Resend's Node.js library and a test key: it sends,
// waits for the email, follows its link and receives the webhook. Postrider delivers to a mail server of this script,
// which sees the mail of a live key and no mail of the test key.
import { spawn } from 'node:child_process'
import { mkdtempSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHTTP } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Resend } from 'resend'
import { receiver, until } from './compat/report.mjs'

const listen = server => new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))
function need(holds, message) {
  if (!holds) throw new Error(message)
}

// A mail server that accepts everything and keeps the recipients.
const recipients = []
const mail = createServer(socket => {
  let data = false
  socket.on('error', () => {})
  socket.write('220 sink\r\n')
  socket.on('data', chunk => {
    for (const line of chunk.toString().split('\r\n').slice(0, -1)) {
      if (data && line !== '.') continue
      if (data) { data = false; socket.write('250 2.0.0 ok\r\n'); continue }
      const verb = line.slice(0, 4).toUpperCase()
      if (verb === 'RCPT') recipients.push(line)
      data = verb === 'DATA'
      socket.write(verb === 'DATA' ? '354 go\r\n' : verb === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n')
    }
  })
})

// The application: its reset page notes who followed the link.
const followed = []
const site = createHTTP((request, answer) => { followed.push(request.url); answer.end('reset') })

const work = mkdtempSync(join(tmpdir(), 'postrider-test-mode-'))
const ready = join(work, 'ready.json')
const sink = await listen(mail)
const page = `http://127.0.0.1:${await listen(site)}/reset?t=4711`
const any = '127.0.0.1:0'
const postrider = spawn(process.argv[2], ['dev', '--data-dir', join(work, 'data'), '--http-addr', any, '--inbound-addr', any, '--relay-addr', any,
  '--relay-tls-addr', any, '--ready-file', ready, '--outbound', `smtp://127.0.0.1:${sink}`], { stdio: 'ignore' })
const ended = new Promise(resolve => postrider.on('exit', resolve))
try {
  await until('the server', () => existsSync(ready) && readFileSync(ready, 'utf8').endsWith('}\n'))
  const server = JSON.parse(readFileSync(ready, 'utf8'))
  const call = async (key, path, body) => {
    const answer = await fetch(server.api_url + path, { method: body ? 'POST' : 'GET', body: body && JSON.stringify(body),
      headers: { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) } })
    need(answer.ok, `${path} got ${answer.status} ${await answer.clone().text()}`)
    return answer.json()
  }
  const { secret } = await call(server.api_key, '/api-keys', { name: 'end-to-end', mode: 'test' })
  const live = new Resend(server.api_key, { baseUrl: `${server.base_url}/resend` })
  const test = new Resend(secret, { baseUrl: `${server.base_url}/resend` })
  const hook = await receiver()
  const created = await test.webhooks.create({ endpoint: hook.url, events: ['email.delivered'] })
  need(created.data, `creating an endpoint got ${JSON.stringify(created)}`)

  const to = `bob+${Date.now()}@example.net`
  const sent = await test.emails.send({ from: 'Ada <ada@dev.test>', to, subject: 'Reset your password', html: `<p><a href="${page}">Reset</a></p>` })
  need(sent.data, `sending got ${JSON.stringify(sent)}`)
  const { captured_email: captured } = await call(secret, `/test/inbox/latest?wait=30s&to=${encodeURIComponent(to)}`)
  need(captured.subject === 'Reset your password' && captured.links[0] === page, `the captured email is ${JSON.stringify(captured)}`)
  await fetch(captured.links[0])
  need(followed.length === 1, `the application saw ${followed}`)
  const delivery = await until('the webhook', () => hook.requests.find(r => r.body.includes(sent.data.id)))
  need(JSON.parse(delivery.body).mode === 'test', `the webhook got ${delivery.body}`)

  const other = await live.emails.get(sent.data.id)
  need(other.error?.statusCode === 404, `a live key reading the email of test mode got ${JSON.stringify(other)}`)
  need(recipients.length === 0, `mail of test mode left: ${recipients}`)
  const real = await live.emails.send({ from: 'Ada <ada@dev.test>', to: 'carol@example.net', subject: 'Hello', text: 'Hello' })
  need(real.data, `sending with a live key got ${JSON.stringify(real)}`)
  await until('the email of the live key', () => recipients.some(r => r.includes('carol@example.net')))
  need(recipients.length === 1, `the mail server got ${recipients}`)
  console.log('clients: test mode: sent, captured, followed the link, received the webhook; nothing left')
} finally {
  postrider.kill()
  await ended
  mail.close()
  site.close()
  rmSync(work, { recursive: true, force: true })
}
process.exit(0)
