import { kindOf } from '../steps/kinds'
import { wordsOfSpan } from './duration'
import type { Step } from './step'

// settingOf summarizes the settings of a step; empty if its main field is missing.
export const settingOf = (s: Step): string => kindOf(s.type).setting(s)

// triggerWords describes the re-entry rule.
export function againOf(trigger: Record<string, unknown>): string {
  const again = trigger.re_entry
  if (typeof again === 'object' && again !== null) return `at most once per ${wordsOfSpan((again as { at_most_every?: unknown }).at_most_every)}`
  return { once: 'once per user', after_completion: 'again after the last run ends' }[String(again)] ?? 'every time'
}

export const cancelsOf = (trigger: Record<string, unknown>): string[] =>
  Array.isArray(trigger.cancel_on_events) ? trigger.cancel_on_events.map((c: unknown) => (typeof c === 'string' ? c : String((c as { event?: unknown } | null)?.event ?? ''))) : []
