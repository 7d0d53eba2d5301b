import { lookOfOutcome } from '../status'
import type { Mark } from '../scene'
import { kindOf } from '../steps/kinds'
import { END, FAIL, keyOfStep, ways, type Step } from './ways'

// Taken is a completed step of a run or dry run.
export interface Taken {
  key: string
  status: string
  output: Record<string, unknown> | null
  error: string | null
}

// slotOf returns the way that a step took, according to its outcome.
function slotOf(step: Step, t: Taken): string[] {
  const { took } = kindOf(step.type)
  if (took) return [took(step, t.output ?? {}, t.status)]
  return t.status === 'failed' ? ['on_error', 'next'] : t.status === 'suppressed' ? ['on_suppressed', 'next'] : ['next', 'on_past']
}

// wordOf returns the outcome of a step, or its decision.
const wordOf = (step: Step | undefined, t: Taken): string =>
  (t.status === 'completed' && step && kindOf(step.type).wordOf?.(t.output ?? {})) || lookOfOutcome(t.status).word

// traceOf marks the steps and ways that a run has taken. `at` is its current step.
export function traceOf(steps: Step[], taken: Taken[], at?: { key: string; word: string } | null): { marks: Map<string, Mark>; taken: Set<string> } {
  const marks = new Map<string, Mark>()
  const lines = new Set<string>()
  const all = ways(steps)
  for (const [n, t] of taken.entries()) {
    const look = lookOfOutcome(t.error && t.status !== 'failed' ? 'failed' : t.status)
    const index = steps.findIndex((s, i) => keyOfStep(s, i) === t.key)
    const step = steps[index]
    marks.set(t.key, { word: wordOf(step, t), tone: look.tone, nth: n + 1 })
    if (!step) continue
    const next = taken[n + 1]?.key ?? (at && at.key !== t.key ? at.key : undefined)
    const own = all[index]?.ways ?? []
    const wanted = slotOf(step, t)
    // Of the ways to the next step, the one that matches the outcome.
    const led = own.filter((w) => (next ? w.goal === next : w.goal === END || w.goal === FAIL))
    const way = wanted.map((slot) => led.find((w) => w.slot === slot)).find(Boolean) ?? led[0]
    if (way && (next || !at)) lines.add(`${t.key} ${way.slot}`)
  }
  if (at) marks.set(at.key, { word: at.word, tone: 'info', nth: taken.length + 1 })
  return { marks, taken: lines }
}
