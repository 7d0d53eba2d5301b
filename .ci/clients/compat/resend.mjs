// Calls every method of Resend's Node.js library against a development server: sends, reads back, verifies a webhook,
// and checks that each call either returns a usable answer or is refused with a sentence that names the feature.
import { Resend } from 'resend'
import { check, finish, inbound, newDomain, own, receiver, refused, until, usable } from './report.mjs'

const from = 'Ada <ada@dev.test>'
const resend = new Resend(process.env.POSTRIDER_API_KEY, { baseUrl: process.env.POSTRIDER_SITE + '/resend' })
// Another account, which claims the verified domain of the first.
const other = new Resend(process.env.POSTRIDER_OTHER_KEY, { baseUrl: process.env.POSTRIDER_SITE + '/resend' })
const hook = await receiver()
const domain = newDomain()

// Webhooks first, so that they report the emails below.
const webhook = await usable('webhooks.create', resend.webhooks.create({ endpoint: hook.url, events: ['email.sent', 'email.delivered'] }))
await usable('webhooks.get', resend.webhooks.get(webhook.id), w => w.object === 'webhook' && w.endpoint === hook.url && w.status === 'enabled')
await usable('webhooks.list', resend.webhooks.list(), l => l.object === 'list' && l.data.some(w => w.id === webhook.id))
await usable('webhooks.update', resend.webhooks.update(webhook.id, { events: ['email.sent', 'email.delivered', 'domain.created'], status: 'enabled' }), w => w.id === webhook.id)

// Emails.
const plain = { from, to: ['bob@example.net'], subject: 'Hello', html: '<p>Hello</p>', text: 'Hello' }
const full = { ...plain, cc: 'carol@example.net', bcc: ['dan@example.net'], replyTo: 'help@dev.test', headers: { 'X-Order': '1742' },
  tags: [{ name: 'kind', value: 'receipt' }], attachments: [{ filename: 'note.txt', content: Buffer.from('a note') }, { filename: 'more.txt', content: Buffer.from('more').toString('base64'), contentId: 'more' }] }
const sent = await usable('emails.send', resend.emails.send(full, { idempotencyKey: `${domain}-1` }), e => e.id.startsWith('msg_'))
const again = await resend.emails.send(full, { idempotencyKey: `${domain}-1` })
check(again.data?.id === sent.id, `the same idempotency key sent ${again.data?.id}, want ${sent.id} again`)
const conflict = await resend.emails.send({ ...full, subject: 'Other' }, { idempotencyKey: `${domain}-1` })
check(conflict.error?.statusCode === 409 && conflict.error.name === 'invalid_idempotent_request', `an idempotency key with another body got ${JSON.stringify(conflict)}`)
await usable('emails.create', resend.emails.create(plain))
await usable('emails.get', resend.emails.get(sent.id), e => e.object === 'email' && e.subject === 'Hello' && e.html.includes('Hello') && e.cc[0] === 'carol@example.net' && e.tags[0].value === 'receipt')
await usable('emails.list', resend.emails.list({ limit: 1 }), l => l.object === 'list' && l.data.length === 1 && l.has_more === true)
const first = await resend.emails.list({ limit: 100 })
const next = await resend.emails.list({ limit: 1, after: first.data.data[0].id })
check(next.data?.data[0].id === first.data.data[1].id, `emails.list after the first is ${next.data?.data[0]?.id}, want ${first.data.data[1].id}`)
const before = await resend.emails.list({ limit: 1, before: first.data.data[1].id })
check(before.data?.data[0].id === first.data.data[0].id, `emails.list before the second is ${before.data?.data[0]?.id}, want ${first.data.data[0].id}`)
const later = await resend.emails.send({ ...plain, scheduledAt: 'in 1 hour' }, { idempotencyKey: `${domain}-2` })
check(later.data?.id, `"in 1 hour" got ${JSON.stringify(later.error)}`)
const laterAgain = await resend.emails.send({ ...plain, scheduledAt: 'in 1 hour' }, { idempotencyKey: `${domain}-2` })
check(laterAgain.data?.id === later.data?.id, `a retry of "in 1 hour" sent ${JSON.stringify(laterAgain)}, want the same email`)
await usable('emails.update', resend.emails.update({ id: later.data.id, scheduledAt: new Date(Date.now() + 7200_000).toISOString() }), e => e.id === later.data.id)
await usable('emails.cancel', resend.emails.cancel(later.data.id), e => e.object === 'email')
check((await resend.emails.get(later.data.id)).data.last_event === 'canceled', 'a canceled email has another last_event')
await refused('emails.share', resend.emails.share(sent.id))
await refused('emails.metrics', resend.emails.metrics())
const sentFiles = await usable('emails.attachments.list', resend.emails.attachments.list({ emailId: sent.id }), l => l.object === 'list' && l.data.length > 0 && l.has_more === false)
const sentFile = await usable('emails.attachments.get', resend.emails.attachments.get({ emailId: sent.id, id: sentFiles.data[0].id }), f => f.object === 'attachment' && f.filename === sentFiles.data[0].filename)
check((await fetch(sentFile.download_url).then(r => r.arrayBuffer())).byteLength === sentFile.size, 'the download_url of a sent attachment returned another file')

// Batches: strict ones send all or none.
await usable('batch.send', resend.batch.send([plain, plain]), b => b.data.length === 2)
await usable('batch.create', resend.batch.create([plain, { ...plain, to: 'invalid' }], { batchValidation: 'permissive' }), b => b.data.length === 1 && b.errors[0].index === 1)
const count = (await resend.emails.list({ limit: 100 })).data.data.length
const none = await resend.batch.send([plain, { ...plain, to: 'invalid' }])
check(none.error?.statusCode === 400, `a strict batch with an invalid email got ${JSON.stringify(none)}`)
check((await resend.emails.list({ limit: 100 })).data.data.length === count, 'a strict batch with an invalid email sent the others')

// Received emails.
await inbound()
const received = await until('a received email', async () => (await resend.emails.receiving.list()).data?.data[0])
await usable('emails.receiving.list', resend.emails.receiving.list(), l => l.data[0].id === received.id)
await usable('emails.receiving.get', resend.emails.receiving.get(received.id), e => e.object === 'email' && e.text.length > 0 && e.headers)
await usable('emails.receiving.attachments.list', resend.emails.receiving.attachments.list({ emailId: received.id }), l => l.object === 'list' && l.data.length === 1)
const receivedFile = await usable('emails.receiving.attachments.get', resend.emails.receiving.attachments.get({ emailId: received.id, id: '0' }), f => f.filename === 'order.csv')
check((await fetch(receivedFile.download_url).then(r => r.text())).startsWith('item,price'), 'the download_url of a received attachment returned another file')
const noFile = await resend.emails.receiving.attachments.get({ emailId: received.id, id: '99' })
check(noFile.error?.statusCode === 404, `an unknown attachment got ${JSON.stringify(noFile)}`)
await refused('emails.receiving.forward', resend.emails.receiving.forward({ emailId: received.id, to: 'eve@example.net', from }), /not available/)

// Domains.
const added = await usable('domains.create', resend.domains.create({ name: domain, capabilities: { receiving: 'enabled' } }), d => d.records.some(r => r.record === 'DKIM') && d.status === 'not_started')
await usable('domains.get', resend.domains.get(added.id), d => d.object === 'domain' && d.name === domain)
await usable('domains.list', resend.domains.list(), l => l.data.some(d => d.id === added.id))
await usable('domains.update', resend.domains.update({ id: added.id, capabilities: { receiving: 'disabled' } }), d => d.id === added.id)
await usable('domains.verify', resend.domains.verify(added.id), d => d.id === added.id)
const claim = await usable('domains.claims.create', other.domains.claims.create({ name: 'dev.test' }), c => c.object === 'domain_claim' && c.record.type === 'TXT')
await usable('domains.claims.get', other.domains.claims.get(claim?.domain_id ?? 'clm_none'), c => c.id === claim?.id)
await usable('domains.claims.verify', other.domains.claims.verify(claim?.domain_id ?? 'clm_none'), c => c.id === claim?.id)
await usable('domains.remove', resend.domains.remove(added.id), d => d.deleted === true)

// API keys.
const key = await usable('apiKeys.create', resend.apiKeys.create({ name: 'compat', permission: 'sending_access' }), k => k.token.startsWith('svc_'))
await usable('apiKeys.update', resend.apiKeys.update(key.id, { name: 'renamed' }), k => k.id === key.id)
await usable('apiKeys.list', resend.apiKeys.list(), l => l.data.some(k => k.id === key.id && k.name === 'renamed'))
const limited = new Resend(key.token, { baseUrl: process.env.POSTRIDER_SITE + '/resend' })
const restricted = await limited.domains.list()
check(restricted.error?.name === 'restricted_api_key', `a sending key that lists domains got ${JSON.stringify(restricted)}`)
await usable('apiKeys.remove', resend.apiKeys.remove(key.id), k => k.deleted === true)

// Suppressions.
const blocked = await usable('suppressions.add', resend.suppressions.add({ email: 'blocked@example.net' }), s => s.id.startsWith('sup_'))
await usable('suppressions.get', resend.suppressions.get('blocked@example.net'), s => s.id === blocked.id && s.origin === 'manual')
await usable('suppressions.list', resend.suppressions.list({ origin: 'manual' }), l => l.data.some(s => s.id === blocked.id))
await usable('suppressions.remove', resend.suppressions.remove('blocked@example.net'), s => s.id === blocked.id && s.deleted === true)
await usable('suppressions.batch.add', resend.suppressions.batch.add({ emails: ['a@blocked.example', 'b@blocked.example'] }), b => b.data.length === 2)
await usable('suppressions.batch.remove', resend.suppressions.batch.remove({ emails: ['a@blocked.example', 'b@blocked.example'] }), b => b.data.length === 2 && b.data[0].deleted)

// Templates.
const alias = 'compat-' + domain.split('.')[0]
const template = await usable('templates.create', resend.templates.create({ name: 'Order', alias, from, subject: 'Order {{{PRODUCT}}}', html: '<p>{{{PRODUCT}}} costs {{{PRICE}}}</p>',
  variables: [{ key: 'PRODUCT', type: 'string', fallbackValue: 'a thing' }, { key: 'PRICE', type: 'number', fallbackValue: 20 }] }), t => t.object === 'template')
await usable('templates.get', resend.templates.get(alias), t => t.id === template.id && t.html.includes('{{{PRICE}}}') && t.variables[1].fallback_value === 20)
await usable('templates.update', resend.templates.update(template.id, { html: '<p>{{{PRODUCT}}} for {{{PRICE}}}</p>' }), t => t.id === template.id)
await usable('templates.publish', resend.templates.publish(template.id), t => t.id === template.id)
await usable('templates.list', resend.templates.list(), l => l.data.some(t => t.id === template.id && t.status === 'published'))
const templated = await resend.emails.send({ to: 'bob@example.net', template: { id: alias, variables: { PRODUCT: 'Tea', PRICE: 3 } } })
check(templated.data && (await resend.emails.get(templated.data.id)).data.html === '<p>Tea for 3</p>', `a template email got ${JSON.stringify(templated)}`)
const copy = await usable('templates.duplicate', resend.templates.duplicate(template.id), t => t.id !== template.id)
await usable('templates.remove', resend.templates.remove(copy?.id), t => t.deleted === true)

// Events, logs, usage, automations.
await usable('events.send', resend.events.send({ event: 'user.created', email: 'bob@example.net', payload: { plan: 'pro' } }), e => e.object === 'event' && e.event === 'user.created')
await refused('events.create', resend.events.create({ name: 'user.created' }))
await refused('events.get', resend.events.get('user.created'))
await refused('events.list', resend.events.list())
await refused('events.update', resend.events.update('user.created', { schema: null }))
await refused('events.remove', resend.events.remove('user.created'))
const logs = await usable('logs.list', until('a logged request', async () => { const l = await resend.logs.list({ limit: 2 }); return l.data?.data.length ? l : undefined }), l => l.data[0].method.length > 0)
await usable('logs.get', resend.logs.get(logs.data[0].id), l => l.object === 'log' && l.id === logs.data[0].id)
await usable('usage.get', resend.usage.get(), u => u.object === 'usage' && u.emails.daily.used > 0 && u.domains.used > 0)
const steps = [{ key: 'start', type: 'trigger', config: { eventName: 'user.created' } }]
await refused('automations.create', resend.automations.create({ name: 'Welcome', status: 'disabled', steps, connections: [] }))
const event = `user.${domain.split('.')[0]}`
const automation = (await own('POST', '/automations', { name: 'Welcome', trigger: { event }, steps: [{ key: 'pause', type: 'delay', duration: 'P1D' }] })).automation.id
await usable('automations.update', resend.automations.update(automation, { name: 'Welcome, again', status: 'enabled' }), a => a.id === automation)
await usable('automations.get', resend.automations.get(automation), a => a.object === 'automation' && a.status === 'enabled' && a.name === 'Welcome, again')
await usable('automations.list', resend.automations.list({ status: 'enabled' }), l => l.data.some(a => a.id === automation))
await resend.events.send({ event, email: 'bob@example.net' })
const run = await until('a run', async () => (await resend.automations.runs.list({ automationId: automation })).data?.data[0])
await usable('automations.runs.list', resend.automations.runs.list({ automationId: automation, status: ['running'] }), l => l.data[0].id === run.id)
await usable('automations.runs.get', resend.automations.runs.get({ automationId: automation, runId: run.id }), r => r.object === 'automation_run' && r.id === run.id)
await usable('automations.stop', resend.automations.stop(automation), a => a.status === 'disabled')
const twin = await usable('automations.duplicate', resend.automations.duplicate(automation), a => a.id !== automation)
await usable('automations.remove', resend.automations.remove(twin?.id ?? automation), a => a.deleted === true)
await refused('oauthGrants.list', resend.oauthGrants.list())
await refused('oauthGrants.revoke', resend.oauthGrants.revoke('x'))

// Deliveries of webhooks, and their signature.
const delivered = await until('a webhook', () => hook.requests.find(r => JSON.parse(r.body).data.email_id === sent.id)) ?? { headers: {} }
const signature = { id: delivered.headers['webhook-id'], timestamp: delivered.headers['webhook-timestamp'], signature: delivered.headers['webhook-signature'] }
const verify = payload => Promise.resolve().then(() => ({ data: resend.webhooks.verify({ payload, webhookSecret: webhook.signing_secret, headers: signature }) }))
if (signature.signature) {
  await usable('webhooks.verify', verify(delivered.body), e => e.data.email_id === sent.id)
  check(!(await verify(delivered.body + ' ').catch(() => ({}))).data, 'webhooks.verify accepts a changed body')
} else {
  check(/v1=/.test(delivered.headers['service-signature']), `a webhook has the headers ${JSON.stringify(delivered.headers)}, want a signature`)
}
const deliveries = await usable('webhooks.events.list', resend.webhooks.events.list({ webhookId: webhook.id }), l => l.data.length > 0)
const one = await until('a delivered webhook', async () => (await resend.webhooks.events.list({ webhookId: webhook.id })).data.data.find(d => d.status === 'success'))
await usable('webhooks.events.get', resend.webhooks.events.get({ webhookId: webhook.id, eventId: one.id }), e => e.payload.type === one.type)
await usable('webhooks.events.attempts.list', resend.webhooks.events.attempts.list({ webhookId: webhook.id, eventId: one.id }), l => l.data[0].http_status_code === 204)
await usable('webhooks.events.replay', resend.webhooks.events.replay({ webhookId: webhook.id, eventId: one.id }), e => e.id === one.id)
await usable('webhooks.rotateSigningSecret', resend.webhooks.rotateSigningSecret(webhook.id), w => w.signing_secret.startsWith('whsec_') && w.signing_secret !== webhook.signing_secret)
await usable('webhooks.remove', resend.webhooks.remove(webhook.id), w => w.deleted === true)
check(deliveries, 'no deliveries')

// What Postrider does not have, outside the calls that are counted.
for (const [name, call] of [['contacts', resend.contacts.list()], ['segments', resend.segments.list()], ['topics', resend.topics.list()], ['broadcasts', resend.broadcasts.list()],
  ['inboxes', resend.inboxes.list()], ['contactProperties', resend.contactProperties.list()]]) {
  const { error } = await call
  check(error?.statusCode === 501 && /not supported/.test(error.message), `${name}.list got ${JSON.stringify(error)}, want a refusal that names it`)
}
const wrong = await resend.emails.send({ from: 'ada@unverified.example', to: 'bob', subject: '', text: 'x' })
check(wrong.error?.statusCode === 400 && wrong.error.name === 'validation_error' && /to/.test(wrong.error.message), `an invalid email got ${JSON.stringify(wrong.error)}`)
const path = await resend.emails.send({ ...plain, attachments: [{ path: 'https://example.com/a.pdf' }] })
check(path.error?.statusCode === 501 && /path/.test(path.error.message), `an attachment by URL got ${JSON.stringify(path.error)}`)
const stranger = await new Resend('svc_wrong', { baseUrl: process.env.POSTRIDER_SITE + '/resend' }).emails.list()
check(stranger.error?.statusCode === 401 && stranger.error.name === 'invalid_api_key', `a wrong key got ${JSON.stringify(stranger.error)}`)

finish('Resend', 55)
