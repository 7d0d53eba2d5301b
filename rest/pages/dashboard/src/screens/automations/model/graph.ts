// The steps of a definition as a graph that can be changed and written back as a list. Ways that a change does
// not affect keep their targets: `next` is written if the order of the list does not imply the target.

import { END, FAIL, goesOn, isEnd, keyed, rawOf, waysFrom, ways, withRaw, type Goal, type Keyed, type Step, type Way } from './ways'

export interface Graph {
  order: string[]
  steps: Map<string, Keyed>
  // goes is the target of `continue` for each step.
  goes: Map<string, Goal>
}

export function open(list: Step[]): Graph {
  const steps = keyed(list)
  const goes = ways(steps)
  return { order: steps.map((s) => s.key), steps: new Map(steps.map((s) => [s.key, s])), goes: new Map(steps.map((s, i) => [s.key, goes[i]?.goes ?? END])) }
}

export const stepAt = (g: Graph, key: string): Keyed => g.steps.get(key) as Keyed

export function waysIn(g: Graph, key: string): Way[] {
  const step = g.steps.get(key)
  return step ? waysFrom(step, g.goes.get(key) ?? END, (to) => (g.steps.has(to) ? to : END)) : []
}

const main = (step: Step, slot: string) => slot === 'next' || rawOf(step, slot) === 'continue'

// lastEnd returns the key of an end step at the end of the list, and adds one if necessary: branches need it.
function lastEnd(g: Graph, goal: Goal): string {
  const outcome = goal === FAIL ? 'failed' : 'completed'
  const last = g.steps.get(g.order.at(-1) ?? '')
  if (last?.type === 'end' && (last.outcome ?? 'completed') === outcome) return last.key
  const key = freeKey(g, outcome === 'failed' ? 'failed' : 'end')
  g.order.push(key)
  g.steps.set(key, outcome === 'failed' ? { key, type: 'end', outcome } : { key, type: 'end' })
  g.goes.set(key, END)
  return key
}

// aim changes the target of a way of a step.
export function aim(g: Graph, key: string, slot: string, goal: Goal) {
  const step = stepAt(g, key)
  const others = waysFrom(step, '', () => '').filter((w) => w.slot !== slot && main(step, w.slot))
  const own = main(step, slot)
  if (own && (slot === 'next' || others.length === 0)) g.goes.set(key, goal)
  else if (goal === g.goes.get(key) && (!slot.includes('[') || slot.startsWith('variants'))) g.steps.set(key, withRaw(step, slot, 'continue'))
  else if (slot.includes('[')) g.steps.set(key, withRaw(step, slot, { goto: isEnd(goal) ? lastEnd(g, goal) : goal }))
  else g.steps.set(key, withRaw(step, slot, goal === END ? 'end' : goal === FAIL ? 'fail' : { goto: goal }))
}

// into returns the ways that lead to a goal.
export function into(g: Graph, goal: Goal, from: Iterable<string> = g.order): { key: string; slot: string }[] {
  return [...from].flatMap((key) => waysIn(g, key).filter((w) => w.goal === goal).map((w) => ({ key, slot: w.slot })))
}

// reach returns the step and all steps that can follow it.
export function reach(g: Graph, from: string): Set<string> {
  const found = new Set<string>()
  const todo = [from]
  for (let key = todo.pop(); key !== undefined; key = todo.pop()) {
    if (found.has(key) || !g.steps.has(key)) continue
    found.add(key)
    for (const w of waysIn(g, key)) if (!isEnd(w.goal)) todo.push(w.goal)
  }
  return found
}

export function freeKey(g: Graph, wanted: string): string {
  const base = wanted.replace(/_\d+$/, '').slice(0, 36)
  if (!g.steps.has(wanted)) return wanted
  for (let n = 2; ; n++) if (!g.steps.has(`${base}_${n}`)) return `${base}_${n}`
}

// sorted returns the order nearest to the current one in which runs only go forward, starting with the entry;
// null if there is none.
function sorted(g: Graph, entry: string | undefined): string[] | null {
  const open = new Map(g.order.map((key) => [key, 0]))
  for (const key of g.order) for (const w of waysIn(g, key)) if (!isEnd(w.goal)) open.set(w.goal, (open.get(w.goal) ?? 0) + 1)
  const out: string[] = []
  const left = [...g.order]
  while (left.length > 0) {
    const first = out.length === 0 && entry ? entry : left.find((key) => open.get(key) === 0)
    if (first === undefined || open.get(first) !== 0) return null
    left.splice(left.indexOf(first), 1)
    out.push(first)
    for (const w of waysIn(g, first)) if (!isEnd(w.goal)) open.set(w.goal, (open.get(w.goal) ?? 1) - 1)
  }
  return out
}

// close writes the list; null if a run would have to go back.
export function close(g: Graph, entry: Goal | undefined = g.order[0]): Keyed[] | null {
  const start = entry && g.steps.has(entry) ? entry : g.order[0]
  // Nothing leads to the first step, except from unreachable steps.
  if (start) {
    const met = reach(g, start)
    for (const w of into(g, start)) {
      if (met.has(w.key)) return null
      aim(g, w.key, w.slot, END)
    }
  }
  const order = sorted(g, start)
  if (!order) return null
  return order.map((key, i) => {
    const { next: _, ...step } = stepAt(g, key)
    const goal = g.goes.get(key) ?? END
    if (!goesOn(step) || goal === (order[i + 1] ?? END)) return step as Keyed
    return { ...step, next: goal === END ? 'end' : goal === FAIL ? 'fail' : { goto: goal } } as Keyed
  })
}
