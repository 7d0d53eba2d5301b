// Where a run goes on from a step. The service has a flat list of steps and targets in their fields; here
// each way has a goal: the key of a step, or how the run ends.

import { wordsOfExpression } from './expression'

export interface Step {
  key?: string
  type: string
  name?: string
  [field: string]: unknown
}

export type Keyed = Step & { key: string }

export type Goal = string
export const END = '#end'
export const FAIL = '#fail'
export const isEnd = (goal: Goal) => goal === END || goal === FAIL

export interface Way {
  // slot is the field of the step that says where the way leads: `next`, `on_true`, `cases[0].goto`.
  slot: string
  label: string
  // short is the label where there is little room.
  short: string
  goal: Goal
  // always: it is shown even where it only leads on.
  always: boolean
}

export const keyOfStep = (s: Step, index: number) => s.key ?? `${s.type}_${index + 1}`

// stepsOf reads the steps of a definition that came as JSON.
export const stepsOf = (steps: unknown): Step[] => (Array.isArray(steps) ? (steps as Step[]).filter((s) => typeof s === 'object' && s !== null) : [])

export const keyed = (steps: Step[]): Keyed[] => steps.map((s, i) => (s.key ? (s as Keyed) : { ...s, key: keyOfStep(s, i) }))

export const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? (value as Record<string, unknown>[]).filter((v) => typeof v === 'object' && v !== null) : [])

// meant is what a target is where it was left out.
const meant: Record<string, string> = { on_false: 'end', on_error: 'fail' }

const inList = /^(cases|variants)\[(\d+)\]\.goto$/

// rawOf is what the field of a way says: `continue`, `end`, `fail` or {goto}.
export function rawOf(step: Step, slot: string): unknown {
  const [, list, index] = inList.exec(slot) ?? []
  if (!list) return step[slot] ?? meant[slot] ?? 'continue'
  const key = listOf(step[list])[Number(index)]?.goto
  return typeof key === 'string' && key !== '' ? { goto: key } : 'continue'
}

// withRaw is the step with another target in a field.
export function withRaw(step: Keyed, slot: string, raw: unknown): Keyed {
  const [, list, index] = inList.exec(slot) ?? []
  const next: Keyed = { ...step }
  if (list) {
    next[list] = listOf(step[list]).map((one, i) => {
      if (i !== Number(index)) return one
      const { goto: _, ...rest } = one
      return raw === 'continue' ? rest : { ...rest, goto: (raw as { goto: string }).goto }
    })
  } else if (raw === (meant[slot] ?? 'continue')) delete next[slot]
  else next[slot] = raw
  return next
}

interface Slot {
  slot: string
  label: string
  short: string
  always: boolean
}

const slot = (name: string, label = '', short = label, always = true): Slot => ({ slot: name, label, short, always })

function slotsOf(step: Step): Slot[] {
  const main = slot('next', '', '', false)
  switch (step.type) {
    case 'end':
      return []
    case 'condition':
      return [slot('on_true', 'If true', 'yes'), slot('on_false', 'Otherwise', 'no')]
    case 'branch':
      return [...listOf(step.cases).map((c, i) => slot(`cases[${i}].goto`, `If ${wordsOfExpression(c.if) || '…'}`, wordsOfExpression(c.if) || `case ${i + 1}`)), slot('otherwise', 'Otherwise', 'otherwise')]
    case 'split': {
      const variants = listOf(step.variants)
      const sum = variants.reduce((n, v) => n + (Number(v.weight) || 0), 0)
      return variants.map((v, i) => slot(`variants[${i}].goto`, `${String(v.key)}, weight ${String(v.weight)}`, `${String(v.key)} ${sum > 0 ? `${Math.round((100 * (Number(v.weight) || 0)) / sum)} %` : ''}`.trim()))
    }
    case 'wait_for_event':
      return [slot('on_event', 'When it arrives', 'arrives'), slot('on_timeout', 'On timeout', 'timeout')]
    case 'wait_until':
      return step.on_past ? [main, slot('on_past', 'If the time has passed', 'already past')] : [main]
    default: {
      const ways = [main]
      if (step.on_suppressed) ways.push(slot('on_suppressed', 'If the recipient is suppressed', 'suppressed'))
      if (step.on_error) ways.push(slot('on_error', 'If it’s rejected', 'refused'))
      return ways
    }
  }
}

// waysFrom are the ways of a step; `goes` finds what `continue` means there, and what a goto names.
export function waysFrom(step: Step, goes: Goal, named: (key: string) => Goal): Way[] {
  return slotsOf(step).map((s) => {
    const raw = s.slot === 'next' ? 'continue' : rawOf(step, s.slot)
    return { ...s, goal: raw === 'continue' ? goes : raw === 'end' ? END : raw === 'fail' ? FAIL : named(String((raw as { goto?: unknown }).goto)) }
  })
}

// goesOn tells whether anything follows from what `next` says.
export const goesOn = (step: Step) => slotsOf(step).some((s) => s.slot === 'next' || rawOf(step, s.slot) === 'continue')

// ways gives, for each step of a list, where `continue` leads and its ways. Targets that the service
// would refuse count as the end.
export function ways(steps: Step[]): { goes: Goal; ways: Way[] }[] {
  const places = new Map(steps.map((s, i) => [keyOfStep(s, i), i]))
  return steps.map((step, i) => {
    const named = (key: string): Goal => ((places.get(key) ?? -1) > i ? key : END)
    const next = steps[i + 1]
    const raw = step.next ?? 'continue'
    const goes = raw === 'continue' ? (next ? keyOfStep(next, i + 1) : END) : raw === 'end' ? END : raw === 'fail' ? FAIL : named(String((raw as { goto?: unknown }).goto))
    return { goes, ways: waysFrom(step, goes, named) }
  })
}
