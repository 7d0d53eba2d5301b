// Edits of the steps of a definition. Each returns a new list, or null if the edit is impossible because runs
// only go forward.

import { kindOf } from '../steps/kinds'
import { outlineOf, type Node } from './outline'
import { aim, close, freeKey, into, open, reach, stepAt, waysIn, type Graph } from './graph'
import { END, isEnd, keyed, listOf, type Goal, type Keyed, type Step } from './ways'

// Place is a position for a step: on one way, or where the ways of `within` meet again.
export type Place = { after: string; slot: string } | { before: string; within?: string }

export interface Edited {
  steps: Keyed[]
  // key is the step to select next.
  key: string
}

const done = (steps: Keyed[] | null, key: string): Edited | null => (steps ? { steps, key } : null)

// onto inserts a block of steps, from its entry to its exits, at a place.
function onto(g: Graph, place: Place, entry: string, leave: (goal: Goal) => void): boolean {
  if ('after' in place) {
    const way = waysIn(g, place.after).find((w) => w.slot === place.slot)
    if (!way) return false
    leave(way.goal)
    aim(g, place.after, place.slot, entry)
    return true
  }
  if (!g.steps.has(place.before)) return false
  const from = place.within ? reach(g, place.within) : g.order.filter((k) => k !== entry)
  const came = into(g, place.before, from)
  leave(place.before)
  for (const w of came) aim(g, w.key, w.slot, entry)
  return true
}

const goalOf = (g: Graph, place: Place): Goal => ('after' in place ? (waysIn(g, place.after).find((w) => w.slot === place.slot)?.goal ?? END) : place.before)

// indexFor returns the index in the order for a step with this goal.
const indexFor = (g: Graph, goal: Goal) => (isEnd(goal) ? g.order.length : g.order.indexOf(goal))

// insert adds a new step at a place; it is the first if there are no steps.
export function insert(steps: Step[], place: Place, made: Step): Edited | null {
  const g = open(steps)
  const key = freeKey(g, made.key ?? made.type)
  const goal = goalOf(g, place)
  const entry = g.order.length === 0 || ('before' in place && place.before === g.order[0]) ? key : g.order[0]
  g.order.splice(g.order.length === 0 ? 0 : indexFor(g, goal), 0, key)
  g.steps.set(key, { ...made, key })
  g.goes.set(key, END)
  if (g.order.length === 1) return done(close(g), key)
  if (!onto(g, place, key, (to) => g.goes.set(key, to))) return null
  // The ways of a new branch continue.
  for (const [i, one] of listOf(made.cases).entries()) if (!one.goto) aim(g, key, `cases[${i}].goto`, g.goes.get(key) ?? END)
  return done(close(g, entry), key)
}

// removed returns a step and the steps that only it leads to.
export function removed(steps: Step[], key: string): string[] {
  const g = open(steps)
  return [key, ...take(g, key)]
}

// onward returns the target of a run if a step is removed.
function onward(g: Graph, key: string): Goal {
  const ways = waysIn(g, key)
  return (ways.find((w) => !isEnd(w.goal)) ?? ways[0])?.goal ?? END
}

// take deletes a step and returns the steps that become unreachable.
function take(g: Graph, key: string): string[] {
  const first = g.order[0] ?? ''
  const before = reach(g, first)
  const goal = onward(g, key)
  const entry = first === key ? goal : first
  for (const w of into(g, key)) aim(g, w.key, w.slot, goal)
  forget(g, key)
  const after = reach(g, entry)
  return g.order.filter((k) => before.has(k) && !after.has(k))
}

function forget(g: Graph, key: string) {
  const came = into(g, key)
  g.order.splice(g.order.indexOf(key), 1)
  for (const w of came) aim(g, w.key, w.slot, END)
  g.steps.delete(key)
  g.goes.delete(key)
}

// remove deletes a step and the steps that only it leads to. Preceding steps continue at its first way.
export function remove(steps: Step[], key: string): Edited | null {
  const g = open(steps)
  const at = g.order.indexOf(key)
  const entry = g.order[0] === key ? onward(g, key) : g.order[0]
  for (const lost of take(g, key)) forget(g, lost)
  return done(close(g, entry), g.order[Math.max(0, at - 1)] ?? '')
}

// place of a node in the outline, with its context.
interface Found {
  node: Node
  siblings: Node[]
  at: number
}

export function find(nodes: Node[], key: string): Found | null {
  for (const [at, node] of nodes.entries()) {
    if (node.key === key) return { node, siblings: nodes, at }
    for (const w of node.ways) {
      const found = find(w.nodes, key)
      if (found) return found
    }
  }
  return null
}

// blockOf returns the steps of a node in the outline: the step itself, and those on its ways.
export const blockOf = (n: Node): string[] => [n.key, ...n.ways.flatMap((w) => w.nodes.flatMap(blockOf))]

// move moves a step, with the steps on its ways, to another place.
export function move(steps: Step[], key: string, place: Place): Edited | null {
  const found = find(outlineOf(steps).nodes, key)
  const exit = found?.node.exit
  if (!found || !exit) return null
  const g = open(steps)
  const block = new Set(blockOf(found.node))
  const from = 'after' in place ? place.after : place.within
  if (from && block.has(from)) return null
  if ('before' in place && block.has(place.before)) return null
  const entry = g.order[0] === key ? exit : g.order[0]
  for (const w of into(g, key)) if (!block.has(w.key)) aim(g, w.key, w.slot, exit)
  const goal = goalOf(g, place)
  const start = 'before' in place && place.before === entry && !place.within ? key : entry
  const moved = g.order.filter((k) => block.has(k))
  g.order = g.order.filter((k) => !block.has(k))
  g.order.splice(indexFor(g, goal), 0, ...moved)
  const leaves = isEnd(exit) ? [{ key, slot: 'next' }] : into(g, exit, block)
  const ok = onto(g, place, key, (to) => { for (const w of leaves) aim(g, w.key, w.slot, to) })
  return ok ? done(close(g, start), key) : null
}

// after returns the place after a node of the outline, where all its ways have joined.
export function after(n: Node): Place | null {
  if (n.ways.length === 0) return n.exit ? { after: n.key, slot: 'next' } : null
  return n.exit && !isEnd(n.exit) ? { before: n.exit, within: n.key } : null
}

// shift moves a step up or down by one among its siblings.
export function shift(steps: Step[], key: string, by: -1 | 1): Edited | null {
  const found = find(outlineOf(steps).nodes, key)
  const other = found?.siblings[found.at + by]
  if (!found || !other) return null
  const [upper, lower] = by > 0 ? [found.node, other] : [other, found.node]
  const place = after(lower)
  const moved = place && move(steps, upper.key, place)
  return moved && { steps: moved.steps, key }
}

// duplicate inserts a copy next to a step.
export function duplicate(steps: Step[], key: string): Edited | null {
  const g = open(steps)
  const step = stepAt(g, key)
  const ways = waysIn(g, key)
  const copy = freeKey(g, key)
  const { next: _, ...rest } = step
  g.steps.set(copy, { ...rest, key: copy })
  g.goes.set(copy, g.goes.get(key) ?? END)
  const at = g.order.indexOf(key)
  if (ways.some((w) => w.slot === 'next')) {
    g.order.splice(at + 1, 0, copy)
    aim(g, key, 'next', copy)
    return done(close(g), copy)
  }
  // The copy of a deciding step precedes the original: its other ways then lead to the same steps.
  const entry = at === 0 ? copy : g.order[0]
  for (const w of into(g, key, g.order.slice(0, at))) aim(g, w.key, w.slot, copy)
  g.order.splice(at, 0, copy)
  if (ways[0]) aim(g, copy, ways[0].slot, key)
  return done(close(g, entry), copy)
}

// target changes the target of a way to another step or an end.
export function target(steps: Step[], key: string, slot: string, goal: Goal): Edited | null {
  const g = open(steps)
  if (!isEnd(goal) && (goal === key || reach(g, goal).has(key))) return null
  const step = stepAt(g, key)
  const [list, index] = [/^\w+/.exec(slot)?.[0] ?? '', Number(/\d+/.exec(slot)?.[0] ?? 0)]
  // From now on, the way has a target of its own.
  if (kindOf(step.type).sides.includes(slot)) g.steps.set(key, { ...step, [slot]: step[slot] ?? (slot === 'on_error' ? 'fail' : 'continue') })
  else if (slot.includes('[') ? !listOf(step[list])[index] : !waysIn(g, key).some((w) => w.slot === slot)) return null
  aim(g, key, slot, goal)
  return done(close(g), key)
}

// addCase adds a case to a branch. Its target is that of `otherwise`.
export function addCase(steps: Step[], key: string): Edited | null {
  const g = open(steps)
  const step = stepAt(g, key)
  const cases = listOf(step.cases)
  g.steps.set(key, { ...step, cases: [...cases, { if: '' }] })
  aim(g, key, `cases[${cases.length}].goto`, waysIn(g, key).find((w) => w.slot === 'otherwise')?.goal ?? END)
  return done(close(g), key)
}

// dropOne deletes a case or a variant, and the steps that only it leads to.
export function dropOne(steps: Step[], key: string, list: 'cases' | 'variants', index: number): Edited | null {
  const g = open(steps)
  const first = g.order[0] ?? ''
  const before = reach(g, first)
  const step = stepAt(g, key)
  g.steps.set(key, { ...step, [list]: listOf(step[list]).filter((_, i) => i !== index) })
  const after = reach(g, first)
  for (const lost of g.order.filter((k) => before.has(k) && !after.has(k))) forget(g, lost)
  return done(close(g), key)
}

// goals returns the possible targets of a way of a step.
export function goals(steps: Step[], key: string): string[] {
  const g = open(steps)
  return g.order.filter((k) => k !== key && !reach(g, k).has(key))
}

const names = (key: string) => new RegExp(`\\bsteps\\.${key}\\b`, 'g')

// rename changes the key of a step and all references to it.
export function rename<T>(doc: T, from: string, to: string): T {
  const walk = (value: unknown, field = ''): unknown => {
    if (typeof value === 'string') return (field === 'goto' || field === 'step') && value === from ? to : value.replace(names(from), `steps.${to}`)
    if (Array.isArray(value)) return value.map((v) => walk(v))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, walk(v, k)]))
  }
  const next = walk(doc) as { steps?: Step[] }
  return { ...next, steps: keyed(next.steps ?? []).map((s) => (s.key === from ? { ...s, key: to } : s)) } as T
}
