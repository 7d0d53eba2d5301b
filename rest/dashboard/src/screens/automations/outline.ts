// A definition as a tree: steps in order, and below a step that decides the ways on from it.

export interface Step {
  key?: string
  type: string
  name?: string
  [field: string]: unknown
}

export interface Way {
  label: string
  // nodes are the steps of this way; empty where it ends at once or leads on below.
  nodes: Node[]
  end: string
}

export interface Node {
  index: number
  key: string
  step: Step
  ways: Way[]
}

interface Target {
  label: string
  // to is the index of the next step, or how the run ends.
  to: number | 'ends' | 'fails'
  // always: it is shown even where it only leads on.
  always: boolean
}

export const keyOfStep = (s: Step, index: number) => s.key ?? `${s.type}_${index + 1}`

export function outlineOf(steps: Step[]): { nodes: Node[]; end: string } {
  const places = new Map(steps.map((s, i) => [keyOfStep(s, i), i]))
  const shown = new Set<number>()

  function resolve(step: Step, index: number, target: unknown, otherwise: string): number | 'ends' | 'fails' {
    const value = target ?? otherwise
    if (value === 'end') return 'ends'
    if (value === 'fail') return 'fails'
    if (value === 'continue') return step.next === undefined || step.next === 'continue' ? (index + 1 < steps.length ? index + 1 : 'ends') : resolve(step, index, step.next, 'continue')
    const key = typeof value === 'object' && value !== null && 'goto' in value ? String(value.goto) : ''
    const to = places.get(key)
    return to !== undefined && to > index ? to : 'ends'
  }

  function targetsOf(step: Step, index: number): Target[] {
    const to = (label: string, target: unknown, otherwise: string, always = true): Target => ({ label, to: resolve(step, index, target, otherwise), always })
    const list = (value: unknown) => (Array.isArray(value) ? (value as Record<string, unknown>[]) : [])
    switch (step.type) {
      case 'end':
        return [{ label: '', to: step.outcome === 'failed' ? 'fails' : 'ends', always: false }]
      case 'condition':
        return [to('If it is true', step.on_true, 'continue'), to('If it is not', step.on_false, 'end')]
      case 'branch':
        return [...list(step.cases).map((c) => to(`If ${String(c.if)}`, { goto: c.goto }, 'continue')), to('Otherwise', step.otherwise, 'continue')]
      case 'split':
        return list(step.variants).map((v) => to(`${String(v.key)}, weight ${String(v.weight)}`, v.goto ? { goto: v.goto } : undefined, 'continue'))
      case 'wait_for_event':
        return [to('When it comes', step.on_event, 'continue'), to('When it does not come in time', step.on_timeout, 'continue')]
      case 'wait_until':
        return step.on_past ? [to('', undefined, 'continue', false), to('If the time has passed', step.on_past, 'continue')] : [to('', undefined, 'continue', false)]
      default: {
        const ways = [to('', undefined, 'continue', false)]
        if (step.on_suppressed) ways.push(to('If the recipient is suppressed', step.on_suppressed, 'continue'))
        if (step.on_error) ways.push(to('If it is refused', step.on_error, 'fail'))
        return ways
      }
    }
  }

  const reached = new Map<number, Set<number>>()
  function reach(from: number): Set<number> {
    const known = reached.get(from)
    if (known) return known
    const all = new Set([from])
    reached.set(from, all)
    const step = steps[from]
    if (step) for (const t of targetsOf(step, from)) if (typeof t.to === 'number') for (const i of reach(t.to)) all.add(i)
    return all
  }

  const said = (t: number | 'ends' | 'fails') => (t === 'ends' ? 'ends' : t === 'fails' ? 'ends as failed' : `goes on at ${keyOfStep(steps[t] as Step, t)}`)

  function walk(from: number | 'ends' | 'fails', stop: number): { nodes: Node[]; end: string } {
    const nodes: Node[] = []
    let at: number | 'ends' | 'fails' = from
    while (typeof at === 'number' && at !== stop && !shown.has(at)) {
      const index: number = at
      const step = steps[index]
      if (!step) break
      shown.add(index)
      const targets = targetsOf(step, index)
      const goals = [...new Set(targets.map((t) => t.to).filter((t): t is number => typeof t === 'number'))]
      // Where all ways that go on meet again, the outline goes on below the step.
      const meet = [...(goals[0] === undefined ? [] : reach(goals[0]))].filter((i) => goals.every((g) => reach(g).has(i)))
      const join = meet.length > 0 ? Math.min(...meet) : -1
      const ways = targets.filter((t) => t.always).map((t) => (t.to === join ? { label: t.label, nodes: [], end: 'goes on below' } : { label: t.label, ...walk(t.to, join === -1 ? stop : join) }))
      nodes.push({ index, key: keyOfStep(step, index), step, ways: ways.map((w) => (join >= 0 && w.nodes.length > 0 && w.end === said(join) ? { ...w, end: 'goes on below' } : w)) })
      if (join >= 0) at = join
      else {
        const plain = targets.find((t) => !t.always)
        if (!plain) return { nodes, end: '' }
        at = plain.to
      }
    }
    return { nodes, end: said(at) }
  }

  const tree = walk(steps.length > 0 ? 0 : 'ends', -1)
  // What no way leads to is shown as well.
  for (let i = 0; i < steps.length; i++) {
    if (shown.has(i)) continue
    tree.nodes.push({ index: i, key: keyOfStep(steps[i] as Step, i), step: steps[i] as Step, ways: [{ label: 'No step leads here', nodes: [], end: '' }] })
  }
  return tree
}

// stepsOf reads the steps of a definition that came as JSON.
export const stepsOf = (steps: unknown): Step[] => (Array.isArray(steps) ? (steps as Step[]).filter((s) => typeof s === 'object' && s !== null) : [])
