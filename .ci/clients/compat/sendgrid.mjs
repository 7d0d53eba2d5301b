// Sends with SendGrid's Node.js library to a development server, and reads and deletes a bounce.
import mail from '@sendgrid/mail'
import client from '@sendgrid/client'
import { check, finish, newDomain, own, usable } from './report.mjs'

const site = process.env.POSTRIDER_SITE + '/sendgrid/'
client.setApiKey(process.env.POSTRIDER_API_KEY)
client.setDefaultRequest('baseUrl', site)
mail.setClient(client)
const run = newDomain()
// The answers of the library as data and error.
const call = promise => promise.then(([response]) => ({ data: response }), thrown => ({ error: { statusCode: thrown.code, message: JSON.stringify(thrown.response?.body ?? String(thrown)), body: thrown.response?.body } }))

const sent = await usable('mail.send', call(mail.send({ from: { email: 'ada@dev.test', name: 'Ada' }, to: 'bob@example.net', cc: 'carol@example.net', replyTo: 'help@dev.test', subject: 'Hello', text: 'Hello', html: '<p>Hello</p>',
  customArgs: { order: '1742' }, categories: ['receipt'], headers: { 'X-Order': '1742' }, attachments: [{ content: Buffer.from('a note').toString('base64'), filename: 'note.txt', type: 'text/plain', disposition: 'attachment' }] })),
  r => r.statusCode === 202 && r.headers['x-message-id'].startsWith('msg_'))
const email = (await own('GET', `/emails/${sent.headers['x-message-id']}`)).email
check(email.subject === 'Hello' && email.tags.some(t => t.name === 'order' && t.value === '1742') && email.attachments[0].name === 'note.txt', `the email is ${JSON.stringify(email)}`)
const several = await usable('mail.send to several', call(mail.send({ from: 'ada@dev.test', subject: 'Hello', text: 'Hello', personalizations: [{ to: 'one@example.net' }, { to: 'two@example.net', subject: 'Other' }] })), r => r.statusCode === 202)
check(several, 'several personalizations were refused')
const count = (await own('GET', '/emails?limit=100')).emails.length
const none = await call(mail.send({ from: 'ada@dev.test', subject: 'Hello', text: 'Hello', personalizations: [{ to: 'one@example.net' }, { to: 'invalid' }] }))
check(none.error?.statusCode === 400 && Array.isArray(none.error.body.errors), `an invalid personalization got ${JSON.stringify(none)}`)
check((await own('GET', '/emails?limit=100')).emails.length === count, 'a refused call sent the other personalization')
const later = await usable('mail.send later', call(mail.send({ from: 'ada@dev.test', to: 'bob@example.net', subject: 'Later', text: 'Later', sendAt: Math.floor(Date.now() / 1000) + 3600 })), r => r.statusCode === 202)
check((await own('GET', `/emails/${later.headers['x-message-id']}`)).email.status === 'scheduled', 'send_at did not schedule the email')
const template = (await own('POST', '/templates', { name: 'Order', alias: `d-${run.split('.')[0]}`, from: 'ada@dev.test', subject: 'Order {{ product }}', text: '{{ product }}', variables: [{ key: 'product', type: 'string', required: true }] })).template
await own('POST', `/templates/${template.id}/publish`)
await usable('mail.send with a template', call(mail.send({ from: 'ada@dev.test', to: 'bob@example.net', templateId: template.alias, dynamicTemplateData: { product: 'Tea' } })), async r =>
  (await own('GET', `/emails/${r.headers['x-message-id']}`)).email.subject === 'Order Tea')
await usable('suppression/bounces', call(client.request({ method: 'GET', url: '/v3/suppression/bounces' })), r => Array.isArray(r.body))
await usable('suppression/bounces/{email}', call(client.request({ method: 'GET', url: '/v3/suppression/bounces/absent@example.net' })), r => r.body.length === 0)
const unknown = await call(client.request({ method: 'DELETE', url: '/v3/suppression/bounces/absent@example.net' }))
check(unknown.error?.statusCode === 404, `deleting an unknown bounce got ${JSON.stringify(unknown)}`)
for (const [name, request] of Object.entries({ asm: () => mail.send({ from: 'ada@dev.test', to: 'bob@example.net', subject: 'x', text: 'x', asm: { groupId: 1 } }), contacts: () => client.request({ method: 'GET', url: '/v3/marketing/contacts' }) })) {
  const { error } = await call(request())
  check(error?.statusCode === 501 && /not supported/.test(error.message), `${name} got ${JSON.stringify(error)}, want a refusal that names it`)
}
client.setApiKey('svc_wrong')
client.setDefaultRequest('baseUrl', site)
const stranger = await call(mail.send({ from: 'ada@dev.test', to: 'bob@example.net', subject: 'x', text: 'x' }))
check(stranger.error?.statusCode === 401, `a wrong key got ${JSON.stringify(stranger)}`)
finish('SendGrid', 6)
