// Sends with Mailgun's Node.js library to a development server.
import Mailgun from 'mailgun.js'
import FormData from 'form-data'
import { check, finish, newDomain, own, usable } from './report.mjs'

const client = key => new Mailgun(FormData).client({ username: 'api', key, url: process.env.POSTRIDER_SITE + '/mailgun' })
const mailgun = client(process.env.POSTRIDER_API_KEY)
const call = promise => promise.then(data => ({ data }), thrown => ({ error: { statusCode: thrown.status, message: thrown.details ?? thrown.message } }))
const idOf = answer => answer.id.slice(1).split('@')[0]
const plain = { from: 'Ada <ada@dev.test>', to: ['bob@example.net', 'Carol <carol@example.net>'], subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' }

const sent = await usable('messages.create', call(mailgun.messages.create('dev.test', { ...plain, 'o:tag': ['receipt', 'test'], 'h:X-Order': '1742', 'h:Reply-To': 'help@dev.test', 'v:order': '1742',
  attachment: { filename: 'note.txt', data: Buffer.from('a note') }, inline: { filename: 'logo.png', data: Buffer.from('not a logo') } })), r => r.id.startsWith('<msg_') && r.status === 200)
const email = (await own('GET', `/emails/${idOf(sent)}`)).email
check(email.to.length === 2 && email.headers['X-Order'] === '1742' && email.reply_to[0] === 'help@dev.test' && email.attachments.length === 2 && email.tags.some(t => t.name === 'order'), `the email is ${JSON.stringify(email)}`)
const later = await usable('messages.create later', call(mailgun.messages.create('dev.test', { ...plain, 'o:deliverytime': new Date(Date.now() + 3600_000).toUTCString() })))
check((await own('GET', `/emails/${idOf(later)}`)).email.status === 'scheduled', 'o:deliverytime did not schedule the email')
const alias = newDomain().split('.')[0]
const template = (await own('POST', '/templates', { name: 'Order', alias, subject: 'Order {{ product }}', text: '{{ product }}', variables: [{ key: 'product', type: 'string', required: true }] })).template
await own('POST', `/templates/${template.id}/publish`)
await usable('messages.create with a template', call(mailgun.messages.create('dev.test', { from: plain.from, to: plain.to, template: alias, 't:variables': JSON.stringify({ product: 'Tea' }) })), async r =>
  (await own('GET', `/emails/${idOf(r)}`)).email.subject === 'Order Tea')
const wrong = await call(mailgun.messages.create('dev.test', { ...plain, to: 'invalid' }))
check(wrong.error?.statusCode === 400, `an invalid recipient got ${JSON.stringify(wrong)}`)
for (const [name, request] of Object.entries({ tracking: () => mailgun.messages.create('dev.test', { ...plain, 'o:tracking': 'yes' }), batch: () => mailgun.messages.create('dev.test', { ...plain, 'recipient-variables': '{"bob@example.net":{"a":1}}' }), events: () => mailgun.domains.list() })) {
  const { error } = await call(request())
  check(error?.statusCode === 501 && /not supported/.test(error.message), `${name} got ${JSON.stringify(error)}, want a refusal that names it`)
}
const stranger = await call(client('svc_wrong').messages.create('dev.test', plain))
check(stranger.error?.statusCode === 401, `a wrong key got ${JSON.stringify(stranger)}`)
finish('Mailgun', 3)
