// A definition as a tree: steps in order, with the branches of a deciding step below it.

import { END, FAIL, keyOfStep, ways as waysOf, type Goal, type Step, type Way as Lead } from './ways'

export interface Way {
  slot: string
  label: string
  // nodes are the steps of this way; empty if it ends immediately or continues below.
  nodes: Node[]
  end: string
  // goal is its first target.
  goal: Goal
}

export interface Node {
  index: number
  key: string
  step: Step
  ways: Way[]
  // exit is the target after the step and all its ways; null if the ways do not meet.
  exit: Goal | null
  // lost: no step leads here.
  lost: boolean
}

export function outlineOf(steps: Step[]): { nodes: Node[]; end: string } {
  const places = new Map(steps.map((s, i) => [keyOfStep(s, i), i]))
  const leads = waysOf(steps)
  const shown = new Set<number>()
  const number = (goal: Goal): number | 'ends' | 'fails' => (goal === END ? 'ends' : goal === FAIL ? 'fails' : (places.get(goal) ?? 'ends'))
  const targetsOf = (index: number) => (leads[index]?.ways ?? []).map((w: Lead) => ({ ...w, to: number(w.goal) }))

  const reached = new Map<number, Set<number>>()
  function reach(from: number): Set<number> {
    const known = reached.get(from)
    if (known) return known
    const all = new Set([from])
    reached.set(from, all)
    for (const t of targetsOf(from)) if (typeof t.to === 'number') for (const i of reach(t.to)) all.add(i)
    return all
  }

  const said = (t: number | 'ends' | 'fails') => (t === 'ends' ? 'end' : t === 'fails' ? 'end as failed' : `continues at ${keyOfStep(steps[t] as Step, t)}`)

  function walk(from: number | 'ends' | 'fails', stop: number): { nodes: Node[]; end: string } {
    const nodes: Node[] = []
    let at: number | 'ends' | 'fails' = from
    while (typeof at === 'number' && at !== stop && !shown.has(at)) {
      const index: number = at
      const step = steps[index]
      if (!step) break
      shown.add(index)
      const targets = targetsOf(index)
      const plain = targets.find((t) => !t.always)
      const goals = [...new Set(targets.map((t) => t.to).filter((t): t is number => typeof t === 'number'))]
      // If all continuing ways meet again, the outline continues below the step.
      const meet = [...(goals[0] === undefined ? [] : reach(goals[0]))].filter((i) => goals.every((g) => reach(g).has(i)))
      const join = meet.length > 0 ? Math.min(...meet) : -1
      const below = plain ? plain.to : join
      const ways = targets.filter((t) => t.always).map(({ slot, label, goal, to }) => {
        const way = to === below ? { nodes: [], end: said(to) } : walk(to, join === -1 ? stop : join)
        return { slot, label, goal, nodes: way.nodes, end: typeof below === 'number' && below >= 0 && way.end === said(below) ? 'continues below' : way.end }
      })
      const met = plain ? plain.goal : join >= 0 ? keyOfStep(steps[join] as Step, join) : null
      nodes.push({ index, key: keyOfStep(step, index), step, ways, exit: met, lost: false })
      if (step.type === 'end') return { nodes, end: said(step.outcome === 'failed' ? 'fails' : 'ends') }
      if (below === -1) return { nodes, end: '' }
      at = below
    }
    return { nodes, end: said(at) }
  }

  const tree = walk(steps.length > 0 ? 0 : 'ends', -1)
  // Unreachable steps are shown as well.
  for (let i = 0; i < steps.length; i++) {
    if (shown.has(i)) continue
    tree.nodes.push({ index: i, key: keyOfStep(steps[i] as Step, i), step: steps[i] as Step, ways: [], exit: null, lost: true })
  }
  return tree
}

