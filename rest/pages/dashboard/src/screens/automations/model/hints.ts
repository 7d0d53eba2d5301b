import type { Doc } from './merge'
import { keyOfStep, type Step } from './ways'

const deep = 3

// pathsIn are the names of what events have with them, and of what the definition reads of them.
export function pathsIn(samples: unknown[], doc: Doc | null): string[] {
  const found = new Set<string>()
  const walk = (value: unknown, at: string, left: number) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || left === 0) {
      if (at !== 'event.data') found.add(at)
      return
    }
    for (const [key, v] of Object.entries(value)) if (/^[A-Za-z_]\w*$/.test(key)) walk(v, `${at}.${key}`, left - 1)
  }
  for (const s of samples) walk(s, 'event.data', deep)
  for (const [, path] of JSON.stringify(doc ?? {}).matchAll(/\b(?:event|trigger)\.(data(?:\.[A-Za-z_]\w*)+)/g)) found.add(`event.${path}`)
  return ['event.email', 'event.user_id', ...[...found].sort()]
}

const gives: Record<string, string[]> = { send_email: ['status', 'email_id'], send_sms: ['status', 'sms_id', 'segments'], wait_for_event: ['status', 'event.data'], webhook: ['status', 'body'], split: ['variant'], condition: ['result'], branch: ['case'] }

// outcomesOf are what steps before one have left to be read.
export function outcomesOf(steps: Step[], key: string): string[] {
  const at = steps.findIndex((s, i) => keyOfStep(s, i) === key)
  return steps.slice(0, Math.max(0, at)).flatMap((s, i) => (gives[s.type] ?? []).map((f) => `steps.${keyOfStep(s, i)}.${f}`))
}

// values are the words that an outcome can have.
export const values: Record<string, string[]> = { send_email: ['sent', 'suppressed', 'failed', 'expired'], send_sms: ['sent', 'suppressed', 'failed', 'expired'], wait_for_event: ['received', 'timed_out'] }

export function valuesOf(steps: Step[], path: string): string[] {
  const m = /^steps\.(\w+)\.(status|variant)$/.exec(path)
  const step = m && steps.find((s, i) => keyOfStep(s, i) === m[1])
  if (!step) return []
  return m[2] === 'variant' ? (Array.isArray(step.variants) ? step.variants.map((v: { key?: unknown }) => String(v.key)) : []) : (values[step.type] ?? [])
}
