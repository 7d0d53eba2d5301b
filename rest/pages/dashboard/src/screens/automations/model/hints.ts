import { kindOf } from '../steps/kinds'
import type { Doc } from './merge'
import { keyOfStep, type Step } from './step'

const deep = 3

// pathsIn returns the names of the data of events, and those that the definition reads.
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

// outcomesOf returns the outputs of the steps before one.
export function outcomesOf(steps: Step[], key: string): string[] {
  const at = steps.findIndex((s, i) => keyOfStep(s, i) === key)
  return steps.slice(0, Math.max(0, at)).flatMap((s, i) => kindOf(s.type).outputs.map((f) => `steps.${keyOfStep(s, i)}.${f}`))
}

// valuesOf returns the possible values of an outcome.
export function valuesOf(steps: Step[], path: string): string[] {
  const m = /^steps\.(\w+)\.(status|variant)$/.exec(path)
  const step = m && steps.find((s, i) => keyOfStep(s, i) === m[1])
  if (!step) return []
  return m[2] === 'variant' ? (Array.isArray(step.variants) ? step.variants.map((v: { key?: unknown }) => String(v.key)) : []) : kindOf(step.type).values
}
