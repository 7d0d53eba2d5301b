// The ways on from a step. The server has a flat list of steps with targets in their fields; here each way
// has a goal: the key of a step, or the end of the run.

import { kindOf } from '../steps/kinds'
import { END, FAIL, keyOfStep, listOf, type Goal, type Keyed, type Slot, type Step } from './step'

export * from './step'

export interface Way {
  // slot is the field of the step with the target of the way: `next`, `on_true`, `cases[0].goto`.
  slot: string
  label: string
  // short is the label for small spaces.
  short: string
  goal: Goal
  // always: it is shown even if it only continues.
  always: boolean
}

// meant is the default target.
const meant: Record<string, string> = { on_false: 'end', on_error: 'fail' }

const inList = /^(cases|variants)\[(\d+)\]\.goto$/

// rawOf returns the value of the field of a way: `continue`, `end`, `fail` or {goto}.
export function rawOf(step: Step, slot: string): unknown {
  const [, list, index] = inList.exec(slot) ?? []
  if (!list) return step[slot] ?? meant[slot] ?? 'continue'
  const key = listOf(step[list])[Number(index)]?.goto
  return typeof key === 'string' && key !== '' ? { goto: key } : 'continue'
}

// withRaw returns the step with another target in a field.
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

const slotsOf = (step: Step): Slot[] => kindOf(step.type).ways(step)

// waysFrom returns the ways of a step; `goes` resolves `continue` and gotos.
export function waysFrom(step: Step, goes: Goal, named: (key: string) => Goal): Way[] {
  return slotsOf(step).map((s) => {
    const raw = s.slot === 'next' ? 'continue' : rawOf(step, s.slot)
    return { ...s, goal: raw === 'continue' ? goes : raw === 'end' ? END : raw === 'fail' ? FAIL : named(String((raw as { goto?: unknown }).goto)) }
  })
}

// goesOn reports whether anything follows `next`.
export const goesOn = (step: Step) => slotsOf(step).some((s) => s.slot === 'next' || rawOf(step, s.slot) === 'continue')

// ways returns, for each step of a list, the target of `continue` and its ways. Targets that the server would
// refuse count as the end.
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
