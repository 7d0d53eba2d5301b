import type { components } from '@/api/rest.gen'

export type EventType = components['schemas']['TestEvent']['event']

// The event types by subject. If the server gets a new type, the compiler reports that it is missing here.
const all: Record<EventType, true> = {
  'email.sent': true, 'email.delivered': true, 'email.delivery_delayed': true, 'email.bounced': true, 'email.complained': true, 'email.failed': true, 'email.suppressed': true, 'email.scheduled': true, 'email.cancelled': true,
  'email.opened': true, 'email.clicked': true, 'email.received': true,
  'contact.unsubscribed': true, 'suppression.added': true, 'suppression.removed': true,
  'domain.added': true, 'domain.verified': true, 'domain.updated': true, 'domain.temporary_failure': true, 'domain.failed': true, 'domain.lost': true, 'domain.deliverability_degraded': true, 'domain.deleted': true, 'domain.dkim_rotated': true, 'domain.claim_started': true, 'domain.claimed': true,
  'webhook.disabled': true, 'account.rate_exceeded': true, 'account.usage_reached': true,
  'automation.started': true, 'automation.step_completed': true, 'automation.completed': true, 'automation.failed': true,
}
export const eventTypes = Object.keys(all) as EventType[]

const groupOf = (type: string) => type.slice(0, type.indexOf('.'))
const titles: Record<string, string> = { email: 'Emails', contact: 'Contacts', suppression: 'Suppressions', domain: 'Domains', automation: 'Automations', webhook: 'Endpoints', account: 'Account' }

export const eventGroups = [...new Set(eventTypes.map(groupOf))].map((key) => ({ key, title: titles[key] ?? key, types: eventTypes.filter((t) => groupOf(t) === key) }))

export const eventsText = (events: string[]) => (events.length >= eventTypes.length ? 'All events' : events.length === 1 ? (events[0] ?? '') : `${events.length} events`)
