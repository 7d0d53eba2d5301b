// Creates one object of every kind that the enabled modules support, so that every screen has data.
import { api, send, until } from './dashboard.mjs'

const steps = [{ key: 'hello', type: 'send_email', from: 'Ada <ada@dev.test>', subject: 'Hi {{event.data.name}}', text: 'Hello' }, { key: 'pause', type: 'delay', duration: 'P1D' }]

// seed returns the ids by kind. on reports whether a module is enabled.
export async function seed(on = () => true) {
  const ids = {}
  ids.domain = (await api('POST', '/domains', { name: `client-${Date.now()}.example` })).domain.id
  if (on('suppression')) ids.suppression = (await api('POST', '/suppressions', { email: 'stop@example.net' })).suppression.id
  if (on('templates')) {
    const fields = { name: 'Receipt', subject: 'Your receipt, {{name}}', from: 'Ada <ada@dev.test>', html: '<p>Thank you, {{name}}.</p>', variables: [{ key: 'name', type: 'string', fallback: 'you' }] }
    ids.template = (await api('POST', '/templates', fields)).template.id
    await api('POST', `/templates/${ids.template}/publish`)
  }
  if (on('webhooks')) ids.webhook = (await api('POST', '/webhooks', { url: 'http://127.0.0.1:9/hook' })).webhook.id
  if (on('automations')) {
    ids.automation = (await api('POST', '/automations', { name: 'Welcome', trigger: { event: 'user.created' }, steps })).automation.id
    await api('POST', `/automations/${ids.automation}`, { action: 'activate' })
    const { event } = await api('POST', '/events', { name: 'user.created', user_id: 'u1', email: 'bob@example.net', data: { name: 'Bob' } })
    ids.event = event.id
    ids.run = await until('the event starts a run', async () => (await api('GET', `/events/${event.id}`)).event.matches?.[0]?.run_id)
  }
  if (on('sending')) {
    ids.scheduled = await send({ subject: 'Later', scheduled_at: new Date(Date.now() + 3600_000).toISOString() })
    ids.email = await send({ subject: 'Hello', html: '<p>Hello</p>', tags: { kind: 'welcome' } })
    await until('an email is delivered', async () => (await api('GET', `/emails/${ids.email}`)).email.status === 'delivered')
  }
  return ids
}

// pagesOf returns the detail pages, which are not in the menu.
export const pagesOf = ids => Object.entries({
  domain: '/domains/', suppression: '/suppressions/', template: '/templates/', webhook: '/webhooks/', automation: '/automations/',
  run: '/automations/runs/', event: '/events/', email: '/emails/', scheduled: '/emails/', received: '/received/',
}).flatMap(([thing, path]) => (ids[thing] ? [path + ids[thing]] : []))
