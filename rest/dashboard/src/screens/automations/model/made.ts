// What a person begins with: new steps and whole automations.
import type { Doc } from './merge'
import type { Step } from './ways'

export const kinds: { type: string; about: string; make: (hints: { from: string }) => Step }[] = [
  { type: 'send_email', about: 'a template or a text of its own', make: ({ from }) => ({ key: 'email', type: 'send_email', ...(from ? { from } : {}) }) },
  { type: 'send_sms', about: 'to a phone number', make: () => ({ key: 'sms', type: 'send_sms', to: '{{event.data.phone}}' }) },
  { type: 'delay', about: 'for some hours or days', make: () => ({ key: 'pause', type: 'delay', duration: 'P1D' }) },
  { type: 'wait_until', about: 'a part of the day, or a time', make: () => ({ key: 'daytime', type: 'wait_until', window: { from: '09:00', to: '18:00' } }) },
  { type: 'wait_for_event', about: 'or until it is too late', make: () => ({ key: 'wait', type: 'wait_for_event', event: '', timeout: 'P1D' }) },
  { type: 'condition', about: 'goes on only if something is true', make: () => ({ key: 'check', type: 'condition', if: '' }) },
  { type: 'branch', about: 'one of several ways', make: () => ({ key: 'branch', type: 'branch', cases: [{ if: '' }] }) },
  { type: 'split', about: 'some people one way, some another', make: () => ({ key: 'split', type: 'split', variants: [{ key: 'a', weight: 50 }, { key: 'b', weight: 50 }] }) },
  { type: 'webhook', about: 'tells a program of yours', make: () => ({ key: 'call', type: 'webhook', url: '' }) },
  { type: 'end', about: 'the run goes no further', make: () => ({ key: 'end', type: 'end' }) },
]

export interface Recipe {
  key: string
  name: string
  about: string
  event: string
  doc: (from: string, event: string) => Pick<Doc, 'trigger' | 'steps'>
}

export const recipes: Recipe[] = [
  {
    key: 'welcome', name: 'Welcome series', about: 'Three emails over a week; who becomes active gets no more reminders.', event: 'user.created',
    doc: (from, event) => ({
      trigger: { event, re_entry: 'once', cancel_on_events: ['account.deleted'] },
      steps: [
        { key: 'hello', type: 'send_email', name: 'Say hello', from, subject: 'Welcome, {{ event.data.name }}', text: 'Hello {{ event.data.name }},\n\ngood to have you here.' },
        { key: 'active', type: 'wait_for_event', name: 'Has it been used?', event: 'user.active', timeout: 'P3D', on_event: { goto: 'tips' } },
        { key: 'nudge', type: 'send_email', name: 'A first step', from, subject: 'Your first step', text: 'Hello {{ event.data.name }},\n\nthis is how to begin.' },
        { key: 'tips', type: 'delay', name: 'A few days later', duration: 'P4D' },
        { key: 'more', type: 'send_email', name: 'Three things to try', from, subject: 'Three things to try', text: 'Write your tips here.' },
      ],
    }),
  },
  {
    key: 'dunning', name: 'Dunning', about: 'A payment has failed: three reminders until it is paid, then a task for a person.', event: 'invoice.failed',
    doc: (from, event) => ({
      trigger: { event, re_entry: 'after_completion', cancel_on_events: ['invoice.paid'] },
      steps: [
        { key: 'notice', type: 'send_email', name: 'The payment has failed', from, subject: 'Your payment of {{ event.data.amount }} has failed', text: 'Hello {{ event.data.name }},\n\nplease look at your card.' },
        { key: 'pause', type: 'delay', duration: 'P3D' },
        { key: 'daytime', type: 'wait_until', name: 'In working hours', window: { from: '09:00', to: '17:00', days: ['mon', 'tue', 'wed', 'thu', 'fri'] } },
        { key: 'second', type: 'send_email', name: 'A second reminder', from, subject: 'Still open: {{ event.data.number }}', text: 'Hello {{ event.data.name }},\n\nthe invoice {{ event.data.number }} is still open.' },
        { key: 'week', type: 'delay', duration: 'P7D' },
        { key: 'large', type: 'condition', name: 'Is it much?', if: 'event.data.amount > 500', on_false: 'continue', on_true: { goto: 'call' } },
        { key: 'final', type: 'send_email', name: 'The last reminder', from, subject: 'Your account will be closed', text: 'Hello {{ event.data.name }},\n\nwe have not received your payment.', next: 'end' },
        { key: 'call', type: 'send_email', name: 'Tell the team', to: 'billing@example.com', from, subject: 'Call {{ event.email }} about {{ event.data.number }}', text: '{{ event.data.amount }} is open for ten days.' },
      ],
    }),
  },
  {
    key: 'again', name: 'Re-engagement', about: 'Somebody has not been seen for a while: a letter, and another one for half of those who do not come back.', event: 'user.inactive',
    doc: (from, event) => ({
      trigger: { event, re_entry: { at_most_every: 'P90D' }, cancel_on_events: ['$contact.unsubscribed'] },
      steps: [
        { key: 'missed', type: 'send_email', name: 'We have missed you', from, subject: 'It is quiet without you', text: 'Hello {{ event.data.name }},\n\nthis is new since you were here.', unsubscribe: true },
        { key: 'back', type: 'wait_for_event', name: 'Do they come back?', event: 'user.active', timeout: 'P7D', on_event: 'end' },
        { key: 'test', type: 'split', name: 'Try an offer', variants: [{ key: 'offer', weight: 50 }, { key: 'nothing', weight: 50, goto: 'done' }] },
        { key: 'gift', type: 'send_email', name: 'The offer', from, subject: 'A month for you', text: 'Hello {{ event.data.name }},\n\nhave a month on us.', unsubscribe: true },
        { key: 'done', type: 'end' },
      ],
    }),
  },
  { key: 'one', name: 'One email', about: 'An event, an email.', event: 'order.paid', doc: (from, event) => ({ trigger: { event }, steps: [{ key: 'receipt', type: 'send_email', from, subject: 'Thank you', text: 'We have your order.' }] }) },
]
