// Fills the account of a development server with the data of a small shop, for screenshots. INBOUND is the
// address at which the service receives mail.
import { api, base, send, until } from './dashboard.mjs'
import { bring } from './peers.mjs'

const html = (head, words) => `<html><body style="margin:0;background:#f4f4f2;font-family:Helvetica,Arial,sans-serif"><div style="max-width:520px;margin:0 auto;padding:32px 20px"><div style="background:#fff;border-radius:8px;padding:28px"><h1 style="margin:0 0 12px;font-size:20px">${head}</h1><p style="margin:0 0 20px;color:#444;line-height:1.5">${words}</p><a href="https://shop.example/orders" style="display:inline-block;background:#1f5fbf;color:#fff;text-decoration:none;border-radius:6px;padding:10px 18px">See your order</a></div><p style="color:#777;font-size:12px;text-align:center">Northwind Shop, 12 Harbour Street</p></div></body></html>`
const kinds = [
  ['receipt', 'Your receipt for order 20411', 'Thank you for your order. It leaves our warehouse today.'], ['shipping', 'Your parcel is on its way', 'It comes tomorrow between 9 and 12.'], ['password', 'Reset your password', 'The link counts for one hour.'],
  ['welcome', 'Welcome to Northwind', 'Here is how to begin.'], ['invoice', 'Invoice 2026-1143', 'It is attached as a PDF.'], ['digest', 'What was new this week', 'Six products have come back.'],
]
const people = ['maria.lindqvist', 'j.okafor', 'tanaka.yuki', 'olivia.brennan', 'samuel.weiss', 'priya.raman', 'lucas.moreau', 'hannah.schulz', 'diego.alvarez', 'ingrid.solberg']
const hosts = ['example.net', 'mail.example.org', 'example.com']
const mail = (id, from, subject, text, more = []) => [`From: ${from}`, 'To: Support <support@dev.test>', `Subject: ${subject}`, `Message-ID: <${id}@example.net>`, ...more, 'MIME-Version: 1.0', 'Content-Type: text/plain; charset=utf-8', '', text, ''].join('\n')

export async function demo() {
  const ids = {}
  const dev = (await api('GET', '/domains')).domains[0]
  await api('PATCH', `/domains/${dev.id}`, { open_tracking: true, click_tracking: true })
  ids.devDomain = dev.id
  ids.domain = (await api('POST', '/domains', { name: 'mail.northwind.example' })).domain.id
  await api('POST', '/domains', { name: 'news.northwind.example' })
  await api('POST', `/domains/${ids.domain}/verify`).catch(() => {})
  await api('PUT', `/domains/${dev.id}/address-rules`, { catch_all: false, rules: [{ action: 'accept', match: 'support' }, { action: 'accept', match: 'orders*' }, { action: 'reject', match: 'noreply' }] })
  ids.template = (await api('POST', '/templates', { name: 'Receipt', alias: 'receipt', subject: 'Your receipt for order {{order}}', from: 'Northwind <shop@dev.test>', html: html('Thank you, {{name}}', 'Your order {{order}} leaves our warehouse today.'), variables: [{ key: 'name', type: 'string', fallback: 'there' }, { key: 'order', type: 'number', required: true }] })).template.id
  await api('POST', `/templates/${ids.template}/publish`)
  await api('PATCH', `/templates/${ids.template}`, { subject: 'Receipt for order {{order}}', html: html('Thank you, {{name}}', 'Your order {{order}} leaves our warehouse tomorrow.') })
  await api('POST', `/templates/${ids.template}/publish`)
  await api('PATCH', `/templates/${ids.template}`, { subject: 'Your order {{order}}: receipt' })
  for (const [name, alias] of [['Welcome', 'welcome'], ['Password reset', 'password-reset'], ['Weekly digest', 'digest']]) await api('POST', '/templates', { name, alias, subject: `${name} from Northwind`, html: html(name, 'Written by the shop.') })

  const hooks = await (await fetch(`${base}/dev/webhooks.json`, { headers: { Authorization: `Bearer ${process.env.KEY}` } })).json()
  ids.webhook = (await api('POST', '/webhooks', { url: hooks.url })).webhook.id
  const answer = status => fetch(`${base}/dev/webhooks/answer`, { method: 'POST', headers: { Authorization: `Bearer ${process.env.KEY}`, 'Content-Type': 'application/json' }, body: JSON.stringify({ status }) })

  ids.automation = (await api('POST', '/automations', { name: 'Welcome series', description: 'Greets new customers and reminds them once.', trigger: { event: 'customer.created' }, steps: [
    { key: 'hello', type: 'send_email', from: 'Northwind <shop@dev.test>', subject: 'Welcome, {{event.data.name}}', html: html('Welcome', 'Good to have you here.') },
    { key: 'pause', type: 'delay', duration: 'P1D' }, { key: 'big', type: 'condition', if: 'event.data.plan == "pro"', then: 'pro', else: 'basic' },
    { key: 'pro', type: 'send_email', from: 'Northwind <shop@dev.test>', subject: 'What Pro has for you', text: 'Hello', next: 'end' }, { key: 'basic', type: 'send_email', from: 'Northwind <shop@dev.test>', subject: 'What you can do next', text: 'Hello' }, { key: 'end', type: 'exit' }],
  }).catch(() => api('POST', '/automations', { name: 'Welcome series', description: 'Greets new customers and reminds them once.', trigger: { event: 'customer.created' }, steps: [
    { key: 'hello', type: 'send_email', from: 'Northwind <shop@dev.test>', subject: 'Welcome, {{event.data.name}}', html: html('Welcome', 'Good to have you here.') }, { key: 'pause', type: 'delay', duration: 'P1D' },
    { key: 'again', type: 'send_email', from: 'Northwind <shop@dev.test>', subject: 'What you can do next', text: 'Hello' }] }))).automation.id
  await api('POST', `/automations/${ids.automation}`, { action: 'activate' })
  for (const [i, p] of people.entries()) {
    const { event } = await api('POST', '/events', { name: i % 4 === 3 ? 'order.paid' : 'customer.created', user_id: `cus_${1000 + i}`, email: `${p}@${hosts[i % 3]}`, data: { name: p.split('.')[0], plan: i % 2 ? 'pro' : 'basic' } })
    ids.event ??= event.id
  }
  ids.run = await until('the event starts a run', async () => (await api('GET', `/events/${ids.event}`)).event.matches?.[0]?.run_id)

  const emails = []
  for (let i = 0; i < 96; i++) {
    const [kind, subject, words] = kinds[i % kinds.length]
    emails.push({ from: 'Northwind <shop@dev.test>', to: `${people[(i * 7) % people.length]}@${hosts[i % 3]}`, subject: subject.replace('20411', 20411 + i), html: html(subject, words), tags: { kind, env: i % 9 ? 'prod' : 'staging' } })
  }
  await api('POST', '/emails/batch', { emails })
  ids.scheduled = await send({ from: 'Northwind <shop@dev.test>', to: 'maria.lindqvist@example.net', subject: 'Your cart waits for you', scheduled_at: new Date(Date.now() + 7200_000).toISOString() })
  await send({ from: 'Northwind <shop@dev.test>', to: 'priya.raman@example.com', subject: 'Tomorrow: 20 % off', scheduled_at: new Date(Date.now() + 90_000_000).toISOString() })
  ids.opened = (await api('POST', '/emails', { from: 'Northwind <shop@dev.test>', to: 'olivia.brennan@example.net', template: { id: ids.template, variables: { name: 'Olivia', order: 20511 } }, tags: { kind: 'receipt', env: 'prod' }, attachments: [{ filename: 'receipt-20511.txt', content: Buffer.from('Order 20511: one lamp, 49.00').toString('base64') }] })).id
  ids.bounced = await send({ from: 'Northwind <shop@dev.test>', to: ['bounce+j.okafor@dev.test', 'lucas.moreau@example.net'], subject: 'Invoice 2026-1144', html: html('Invoice', 'It is attached.'), tags: { kind: 'invoice', env: 'prod' } })
  await send({ from: 'Northwind <shop@dev.test>', to: 'complain+d.alvarez@dev.test', subject: 'What was new this week', html: html('News', 'Six products.'), tags: { kind: 'digest', env: 'prod' } })
  ids.delayed = await send({ from: 'Northwind <shop@dev.test>', to: 'delay+i.solberg@dev.test', subject: 'Your parcel is on its way', html: html('On its way', 'Tomorrow.'), tags: { kind: 'shipping', env: 'prod' } })
  await send({ from: 'Northwind <shop@dev.test>', to: 'suppress@dev.test', subject: 'Reset your password', text: 'The link counts for one hour.', tags: { kind: 'password' } })
  for (const email of ['old.customer@example.net', 'no.more@example.com']) await api('POST', '/suppressions', { email })
  ids.suppression = (await until('the address is suppressed', async () => (await api('GET', '/suppressions')).suppressions.find(s => s.email.startsWith('bounce+')))).id

  const { mail: seen } = await (await fetch(`${base}/dev/inbox/latest?to=olivia.brennan%40example.net&subject=order+20511&wait=20s`)).json()
  const [pixel] = /http[^"]*\/t\/o\/[^"]*/.exec(seen.html) ?? []
  const [click] = /http[^"]*\/t\/c\/[^"]*/.exec(seen.html) ?? []
  const agent = { 'User-Agent': 'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15' }
  for (const url of [pixel, click]) if (url) await fetch(url.replace(/^https?:\/\/[^/]*/, base).replaceAll('&amp;', '&'), { headers: agent, redirect: 'manual' })

  await bring(process.env.INBOUND, 'support@dev.test', [
    mail('q1', 'Maria Lindqvist <maria.lindqvist@example.net>', 'Where is my parcel?', 'Hello,\n\nmy order 20417 should have come on Monday. Can you look where it is?\n\nThank you\nMaria'),
    mail('q2', 'Samuel Weiss <samuel.weiss@example.com>', 'Invoice has the wrong address', 'Good morning,\n\nplease write our invoice to Weiss & Sons, Hafenstrasse 4.\n\nSamuel Weiss'),
  ])
  const first = await until('mail is received', async () => (await api('GET', '/received-emails')).received_emails.find(r => r.subject === 'Where is my parcel?'))
  await api('POST', `/received-emails/${first.id}/reply`, { from: 'Support <support@dev.test>', text: 'Hello Maria, it left our warehouse this morning and comes tomorrow.' })
  const { mail: reply } = await (await fetch(`${base}/dev/inbox/latest?to=maria.lindqvist%40example.net&subject=Where+is&wait=20s`)).json()
  const answered = /message-id:\s*(<[^>]*>)/i.exec(await (await fetch(`${base}/dev/inbox/${reply.id}/source`)).text())[1]
  await bring(process.env.INBOUND, 'support@dev.test', [mail('q3', 'Maria Lindqvist <maria.lindqvist@example.net>', 'Re: Where is my parcel?', 'That was quick. Thank you!\n\nMaria', [`In-Reply-To: ${answered}`, `References: <q1@example.net> ${answered}`])])
  ids.received = (await until('the reply is received', async () => (await api('GET', '/received-emails')).received_emails.find(r => r.subject.startsWith('Re:')))).id

  await api('POST', '/api-keys', { name: 'web shop', scope: 'sending' })
  await api('POST', '/api-keys', { name: 'nightly report', scope: 'read' }).catch(() => {})
  await api('POST', '/smtp-credentials', { name: 'office printer' })
  await api('POST', '/emails', { from: 'shop@not-ours.example', to: 'x', subject: 'Hello' }).catch(() => {}) // for the API log
  await until('all deliveries have ended', async () => (await api('GET', `/webhooks/${ids.webhook}/deliveries?state=pending`)).deliveries.length === 0)
  await answer(500)
  ids.receipt = await send({ from: 'Northwind <shop@dev.test>', to: 'hannah.schulz@mail.example.org', subject: 'Your receipt for order 20512', html: html('Thank you', 'Soon there.'), tags: { kind: 'receipt', env: 'prod' } })
  await until('a delivery fails', async () => (await api('GET', `/webhooks/${ids.webhook}/deliveries?limit=100`)).deliveries.find(d => d.state === 'failed'))
  await answer(200)
  ids.delivery = (await api('GET', `/webhooks/${ids.webhook}/deliveries?limit=100`)).deliveries.find(d => d.state === 'failed').id
  return ids
}
