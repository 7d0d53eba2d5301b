// Sends with Postmark's Node.js library to a development server, and reads messages and bounces.
import { ServerClient } from 'postmark'
import { check, finish, newDomain, own, until, usable } from './report.mjs'

const options = { requestHost: new URL(process.env.POSTRIDER_SITE).host + '/postmark', useHttps: false }
const postmark = new ServerClient(process.env.POSTRIDER_API_KEY, options)
const call = promise => promise.then(data => ({ data }), error => ({ error }))
const plain = { From: 'Ada <ada@dev.test>', To: 'Bob <bob@example.net>, carol@example.net', Subject: 'Hello', HtmlBody: '<p>Hello</p>', TextBody: 'Hello' }
const run = newDomain()

const sent = await usable('sendEmail', call(postmark.sendEmail({ ...plain, Tag: 'receipt', Metadata: { order: '1742' }, ReplyTo: 'help@dev.test', Headers: [{ Name: 'X-Order', Value: '1742' }],
  Attachments: [{ Name: 'note.txt', Content: Buffer.from('a note').toString('base64'), ContentType: 'text/plain', ContentID: null }], MessageStream: 'outbound' })), r => r.ErrorCode === 0 && r.MessageID.startsWith('msg_'))
await usable('sendEmailBatch', call(postmark.sendEmailBatch([plain, { ...plain, To: 'invalid' }])), r => r[0].ErrorCode === 0 && r[1].ErrorCode === 300)
const alias = run.split('.')[0]
const template = (await own('POST', '/templates', { name: 'Order', alias, subject: 'Order {{ product }}', text: '{{ product }}', variables: [{ key: 'product', type: 'string', required: true }] })).template
await own('POST', `/templates/${template.id}/publish`)
await usable('sendEmailWithTemplate', call(postmark.sendEmailWithTemplate({ From: 'ada@dev.test', To: 'bob@example.net', TemplateAlias: alias, TemplateModel: { product: 'Tea' } })), async r =>
  (await own('GET', `/emails/${r.MessageID}`)).email.subject === 'Order Tea')
await usable('sendEmailBatchWithTemplates', call(postmark.sendEmailBatchWithTemplates([{ From: 'ada@dev.test', To: 'bob@example.net', TemplateAlias: alias, TemplateModel: { product: 'Tea' } }])), r => r[0].ErrorCode === 0)
await until('the delivery', async () => (await postmark.getOutboundMessageDetails(sent.MessageID)).MessageEvents.length === 2)
await usable('getOutboundMessageDetails', call(postmark.getOutboundMessageDetails(sent.MessageID)), m => m.To[0].Name === 'Bob' && m.Tag === 'receipt' && m.Metadata.order === '1742' && m.Status === 'Sent' && m.MessageEvents[0].Type === 'Delivered')
await usable('getBounces', call(postmark.getBounces({ count: 10 })), b => Array.isArray(b.Bounces))
await own('POST', '/suppressions', { email: 'inactive@example.net' })
const inactive = await call(postmark.sendEmail({ ...plain, To: 'inactive@example.net' }))
check(inactive.error?.code === 406 && inactive.error.recipients?.[0] === 'inactive@example.net', `a suppressed recipient got ${JSON.stringify(inactive)}`)
await own('DELETE', '/suppressions/inactive@example.net')
const wrong = await call(postmark.sendEmail({ ...plain, From: 'ada' }))
check(wrong.error?.statusCode === 422 && wrong.error.code === 300, `an invalid sender got ${JSON.stringify(wrong)}`)
for (const [name, request] of Object.entries({ streams: () => postmark.getMessageStreams(), statistics: () => postmark.getOutboundOverview(), stream: () => postmark.sendEmail({ ...plain, MessageStream: 'broadcast' }), tracking: () => postmark.sendEmail({ ...plain, TrackOpens: true }) })) {
  const { error } = await call(request())
  check(error?.statusCode === 501 && /not supported/.test(error.message), `${name} got ${JSON.stringify(error)}, want a refusal that names it`)
}
const stranger = await call(new ServerClient('svc_wrong', options).sendEmail(plain))
check(stranger.error?.statusCode === 401 && stranger.error.code === 10, `a wrong token got ${JSON.stringify(stranger)}`)
finish('Postmark', 6)
