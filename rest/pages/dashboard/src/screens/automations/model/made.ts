// Complete automations to start from.
import type { Doc } from './merge'

export interface Recipe {
  key: string
  name: string
  about: string
  event: string
  doc: (from: string, event: string) => Pick<Doc, 'trigger' | 'steps'>
}

export const recipes: Recipe[] = [
  {
    key: 'welcome', name: 'Welcome series', about: 'Three emails over a week; people who become active stop receiving reminders.', event: 'user.created',
    doc: (from, event) => ({
      trigger: { event, re_entry: 'once', cancel_on_events: ['account.deleted'] },
      steps: [
        { key: 'hello', type: 'send_email', name: 'Say hello', from, subject: 'Welcome, {{ event.data.name }}', text: 'Hello {{ event.data.name }},\n\ngood to have you here.' },
        { key: 'active', type: 'wait_for_event', name: 'Already active?', event: 'user.active', timeout: 'P3D', on_event: { goto: 'tips' } },
        { key: 'nudge', type: 'send_email', name: 'First step', from, subject: 'Your first step', text: 'Hello {{ event.data.name }},\n\nhere’s how to get started.' },
        { key: 'tips', type: 'delay', name: 'A few days later', duration: 'P4D' },
        { key: 'more', type: 'send_email', name: 'Three things to try', from, subject: 'Three things to try', text: 'Write your tips here.' },
      ],
    }),
  },
  {
    key: 'dunning', name: 'Dunning', about: 'After a failed payment: three reminders until it’s paid, then a task for your team.', event: 'invoice.failed',
    doc: (from, event) => ({
      trigger: { event, re_entry: 'after_completion', cancel_on_events: ['invoice.paid'] },
      steps: [
        { key: 'notice', type: 'send_email', name: 'Payment failed', from, subject: 'Your payment of {{ event.data.amount }} failed', text: 'Hello {{ event.data.name }},\n\nplease check your card.' },
        { key: 'pause', type: 'delay', duration: 'P3D' },
        { key: 'daytime', type: 'wait_until', name: 'During business hours', window: { from: '09:00', to: '17:00', days: ['mon', 'tue', 'wed', 'thu', 'fri'] } },
        { key: 'second', type: 'send_email', name: 'Second reminder', from, subject: 'Reminder: invoice {{ event.data.number }}', text: 'Hello {{ event.data.name }},\n\ninvoice {{ event.data.number }} is still unpaid.' },
        { key: 'week', type: 'delay', duration: 'P7D' },
        { key: 'large', type: 'condition', name: 'Large amount?', if: 'event.data.amount > 500', on_false: 'continue', on_true: { goto: 'call' } },
        { key: 'final', type: 'send_email', name: 'Final reminder', from, subject: 'Your account will be closed', text: 'Hello {{ event.data.name }},\n\nwe have not received your payment.', next: 'end' },
        { key: 'call', type: 'send_email', name: 'Notify the team', to: 'billing@example.com', from, subject: 'Call {{ event.email }} about {{ event.data.number }}', text: '{{ event.data.amount }} has been unpaid for ten days.' },
      ],
    }),
  },
  {
    key: 'again', name: 'Re-engagement', about: 'For users who have been inactive for a while: one email, and an offer to half of those who don’t come back.', event: 'user.inactive',
    doc: (from, event) => ({
      trigger: { event, re_entry: { at_most_every: 'P90D' }, cancel_on_events: ['$contact.unsubscribed'] },
      steps: [
        { key: 'missed', type: 'send_email', name: 'We miss you', from, subject: 'It’s quiet without you', text: 'Hello {{ event.data.name }},\n\nhere’s what’s new since your last visit.', unsubscribe: true },
        { key: 'back', type: 'wait_for_event', name: 'Came back?', event: 'user.active', timeout: 'P7D', on_event: 'end' },
        { key: 'test', type: 'split', name: 'Try an offer', variants: [{ key: 'offer', weight: 50 }, { key: 'nothing', weight: 50, goto: 'done' }] },
        { key: 'gift', type: 'send_email', name: 'Offer', from, subject: 'A free month for you', text: 'Hello {{ event.data.name }},\n\nenjoy a month on us.', unsubscribe: true },
        { key: 'done', type: 'end' },
      ],
    }),
  },
  { key: 'one', name: 'Single email', about: 'One event, one email.', event: 'order.paid', doc: (from, event) => ({ trigger: { event }, steps: [{ key: 'receipt', type: 'send_email', from, subject: 'Thank you', text: 'We received your order.' }] }) },
]
