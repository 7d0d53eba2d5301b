// Where a run goes on from a step. The service has a flat list of steps and targets in their fields; here
// each way has a goal: the key of a step, or how the run ends.

import { kindOf } from '../steps/kinds'
import { END, FAIL, keyOfStep, listOf, type Goal, type Keyed, type Slot, type Step } from './step'

export * from './step'

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

const slotsOf = (step: Step): Slot[] => kindOf(step.type).ways(step)

// waysFrom are the ways of a step; `goes` finds what `continue` means there, and what a goto names.
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
