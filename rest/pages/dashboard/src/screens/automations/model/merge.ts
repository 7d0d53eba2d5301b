// Merges the changes of two users to one draft. A change by only one of them is kept; the user resolves
// conflicts.

import type { Change, Side } from '@/screens/code/Changes'
import type { Keyed, Step } from './ways'
import { keyed } from './ways'

export interface Goal {
  event: string
  within_days: number
}

export interface Doc {
  name: string
  description?: string | null
  timezone?: string | null
  goal?: Goal | null
  trigger: Record<string, unknown>
  steps: Step[]
}

export interface Merged {
  doc: Doc
  changes: Change[]
}

// same compares values regardless of the order of their members. Null members are ignored.
export function same(a: unknown, b: unknown): boolean {
  if (a === b || ((a === null || a === undefined) && (b === null || b === undefined))) return true
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b || Array.isArray(a) !== Array.isArray(b)) return false
  const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>]
  return [...new Set([...Object.keys(x), ...Object.keys(y)])].every((k) => same(x[k], y[k]))
}

interface Choice {
  pick: (path: string, base: unknown, mine: unknown, theirs: unknown) => unknown
}

// object merges objects member by member.
function object(at: string, base: Record<string, unknown>, mine: Record<string, unknown>, theirs: Record<string, unknown>, { pick }: Choice): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const name of new Set([...Object.keys(theirs), ...Object.keys(mine), ...Object.keys(base)])) {
    const value = pick(at ? `${at}.${name}` : name, base[name], mine[name], theirs[name])
    if (value !== undefined) out[name] = value
  }
  return out
}

// merge combines both sides; `choose` resolves conflicts.
export function merge(base: Doc, mine: Doc, theirs: Doc, choose: (path: string) => Side): Merged {
  const changes: Change[] = []
  const pick = (path: string, b: unknown, m: unknown, t: unknown): unknown => {
    if (same(m, t)) return t
    const by = same(b, m) ? 'theirs' : same(b, t) ? 'mine' : 'both'
    changes.push({ path, by, base: b, mine: m, theirs: t })
    const side = by === 'both' ? choose(path) : by
    return side === 'mine' ? m : t
  }
  const { steps: _b, trigger: tb, ...restB } = base
  const { steps: _m, trigger: tm, ...restM } = mine
  const { steps: _t, trigger: tt, ...restT } = theirs
  const fields = object('', restB, restM, restT, { pick })
  const trigger = object('trigger', tb, tm, tt, { pick })
  return { doc: { ...(fields as { name: string }), trigger, steps: mergeSteps(keyed(base.steps), keyed(mine.steps), keyed(theirs.steps), pick) }, changes }
}

function mergeSteps(base: Keyed[], mine: Keyed[], theirs: Keyed[], pick: Choice['pick']): Keyed[] {
  const [b, m, t] = [base, mine, theirs].map((list) => new Map(list.map((s) => [s.key, s]))) as [Map<string, Keyed>, Map<string, Keyed>, Map<string, Keyed>]
  const kept = new Map<string, Keyed>()
  for (const key of new Set([...t.keys(), ...m.keys()])) {
    const [was, my, their] = [b.get(key), m.get(key), t.get(key)]
    // A step that exists on all sides is merged by field, unless its type has changed.
    const value = my && their && my.type === their.type ? (object(key, was ?? {}, my, their, { pick }) as Keyed) : (pick(key, was, my, their) as Keyed | undefined)
    if (value) kept.set(key, value)
  }
  return order(base, mine, theirs, kept, pick).map((key) => kept.get(key) as Keyed)
}

// order returns the order of the side that has moved steps, with the new steps of the other side after the steps
// that they followed there.
function order(base: Keyed[], mine: Keyed[], theirs: Keyed[], kept: Map<string, Keyed>, pick: Choice['pick']): string[] {
  const [b, m, t] = [base, mine, theirs].map((list) => list.map((s) => s.key)) as [string[], string[], string[]]
  const common = (list: string[]) => list.filter((k) => m.includes(k) && t.includes(k))
  const known = new Set(b)
  const old = common(b)
  const side = same(common(m), common(t)) || old.length !== common(m).length ? t : (pick('order', old, common(m).filter((k) => known.has(k)), common(t).filter((k) => known.has(k))) as string[])
  const first = side === t || same(side, common(t).filter((k) => known.has(k))) ? t : m
  const other = first === t ? m : t
  const out = first.filter((k) => kept.has(k))
  for (const [i, key] of other.entries()) {
    if (out.includes(key) || !kept.has(key)) continue
    const before = other.slice(0, i).reverse().find((k) => out.includes(k))
    out.splice(before === undefined ? 0 : out.indexOf(before) + 1, 0, key)
  }
  return out
}
