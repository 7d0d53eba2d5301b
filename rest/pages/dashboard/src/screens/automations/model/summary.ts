import { wordsOfSpan } from './duration'
import { wordsOfExpression } from './expression'
import { listOf, type Step } from './ways'

const words = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(', ') : typeof value === 'string' ? value : '')

// settingOf says in a few words what a step is set to; empty where the main thing is missing.
export function settingOf(s: Step): string {
  const or = (value: unknown, text: (v: string) => string) => (words(value) ? text(words(value)) : '')
  switch (s.type) {
    case 'send_email': {
      const template = s.template as { id?: string; alias?: string } | undefined
      return template ? or(template.alias ?? template.id, (t) => `Template ${t}`) : or(s.subject, (t) => `“${t}”`)
    }
    case 'send_sms':
      return or(s.text, (t) => `“${t}”`)
    case 'delay':
      return or(s.duration, wordsOfSpan)
    case 'wait_until': {
      const w = s.window as { from?: string; to?: string; days?: string[] } | undefined
      return [or(s.at, (at) => `${at}${s.offset ? `, ${wordsOfSpan(s.offset)}` : ''}`), w ? `${w.from ?? '…'} to ${w.to ?? '…'}${w.days ? `, ${w.days.join(' ')}` : ''}` : ''].filter(Boolean).join(', then ')
    }
    case 'wait_for_event':
      return or(s.event, (e) => `${e.replaceAll(', ', ' or ')}${s.timeout ? `, at most ${wordsOfSpan(s.timeout)}` : ''}`)
    case 'condition':
      return wordsOfExpression(s.if)
    case 'branch':
      return `${listOf(s.cases).length} ${listOf(s.cases).length === 1 ? 'case' : 'cases'}`
    case 'split':
      return listOf(s.variants).map((v) => `${String(v.key)} ${String(v.weight)}`).join(' : ')
    case 'webhook':
      return or(s.url, (u) => `${words(s.method) || 'POST'} ${u.replace(/^https:\/\//, '')}`)
    case 'end':
      return s.outcome === 'failed' ? 'as failed' : 'as completed'
    default:
      return ''
  }
}

// triggerWords says how often a person may run.
export function againOf(trigger: Record<string, unknown>): string {
  const again = trigger.re_entry
  if (typeof again === 'object' && again !== null) return `at most once per ${wordsOfSpan((again as { at_most_every?: unknown }).at_most_every)}`
  return { once: 'once per user', after_completion: 'again after the last run ends' }[String(again)] ?? 'every time'
}

export const cancelsOf = (trigger: Record<string, unknown>): string[] =>
  Array.isArray(trigger.cancel_on_events) ? trigger.cancel_on_events.map((c: unknown) => (typeof c === 'string' ? c : String((c as { event?: unknown } | null)?.event ?? ''))) : []
