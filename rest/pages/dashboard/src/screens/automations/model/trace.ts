import { lookOfOutcome } from '../status'
import type { Mark } from '../scene'
import { kindOf } from '../steps/kinds'
import { END, FAIL, keyOfStep, ways, type Step } from './ways'

// Taken is a step that a run, or a dry run, has ended.
export interface Taken {
  key: string
  status: string
  output: Record<string, unknown> | null
  error: string | null
}

// slotOf is the way that a step has gone by what it came to.
function slotOf(step: Step, t: Taken): string[] {
  const { took } = kindOf(step.type)
  if (took) return [took(step, t.output ?? {}, t.status)]
  return t.status === 'failed' ? ['on_error', 'next'] : t.status === 'suppressed' ? ['on_suppressed', 'next'] : ['next', 'on_past']
}

// wordOf says what a step came to: of one that decides, what it has decided.
const wordOf = (step: Step | undefined, t: Taken): string =>
  (t.status === 'completed' && step && kindOf(step.type).wordOf?.(t.output ?? {})) || lookOfOutcome(t.status).word

// traceOf marks what a run has taken of its steps, and the ways between them. `at` is where it is now.
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
    // Of the ways to where the run went, the one that fits what the step came to.
    const led = own.filter((w) => (next ? w.goal === next : w.goal === END || w.goal === FAIL))
    const way = wanted.map((slot) => led.find((w) => w.slot === slot)).find(Boolean) ?? led[0]
    if (way && (next || !at)) lines.add(`${t.key} ${way.slot}`)
  }
  if (at) marks.set(at.key, { word: at.word, tone: 'info', nth: taken.length + 1 })
  return { marks, taken: lines }
}
