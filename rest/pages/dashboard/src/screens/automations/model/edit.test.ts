import { describe, expect, it } from 'vitest'
import { addCase, after, dropOne, duplicate, find, goals, insert, move, remove, rename, shift, target, type Edited } from './edit'
import { outlineOf } from './outline'
import { END, FAIL, keyOfStep, keyed, ways, type Keyed, type Step } from './ways'

// said writes the ways of each step: `a>b`, `c[on_true]>d`.
const said = (steps: Step[]) => ways(steps).flatMap((w, i) => w.ways.map((x) => `${keyOfStep(steps[i] as Step, i)}${x.slot === 'next' ? '' : `[${x.slot}]`}>${x.goal}`))
const keys = (e: Edited | null) => e?.steps.map((s) => s.key).join(' ')
const step = (e: Edited | null, key: string) => e?.steps.find((s) => s.key === key)

const mail = (key: string, more: object = {}): Step => ({ key, type: 'send_email', ...more })
const line = [mail('a'), mail('b'), mail('c')]
const forked: Step[] = [{ key: 'q', type: 'condition', if: 'x', on_false: { goto: 'n' } }, mail('y', { next: { goto: 'z' } }), mail('n'), mail('z')]

// forward tells whether the service would take the targets of a list.
function forward(steps: Keyed[]): boolean {
  const at = new Map(steps.map((s, i) => [s.key, i]))
  return at.size === steps.length && [...JSON.stringify(steps.map((s, i) => ({ i, s }))).matchAll(/"goto":"(\w+)"/g)].length === steps.flatMap((s, i) => [...JSON.stringify(s).matchAll(/"goto":"(\w+)"/g)].filter((m) => (at.get(m[1] ?? '') ?? -1) > i)).length
}

describe('insert', () => {
  it('puts a step between two without a word about targets', () => {
    const e = insert(line, { after: 'a', slot: 'next' }, { type: 'delay', duration: 'P1D' })
    expect(keys(e)).toBe('a delay b c')
    expect(JSON.stringify(e?.steps)).not.toContain('next')
    expect(keys(insert(line, { before: 'a' }, { key: 'first', type: 'delay' }))).toBe('first a b c')
    expect(keys(insert(line, { after: 'c', slot: 'next' }, { key: 'a', type: 'delay' }))).toBe('a b c a_2')
    expect(keys(insert([], { before: '' }, { type: 'delay' }))).toBe('delay')
  })

  it('puts a step on one way and leaves the others alone', () => {
    const wait: Step[] = [{ key: 'w', type: 'wait_for_event' }, mail('x')]
    expect(said(insert(wait, { after: 'w', slot: 'on_timeout' }, mail('late'))?.steps ?? [])).toEqual(['w[on_event]>x', 'w[on_timeout]>late', 'late>x', 'x>#end'])
    const end = insert([{ key: 'q', type: 'condition' }, mail('y')], { after: 'q', slot: 'on_false' }, mail('n'))
    expect(said(end?.steps ?? [])).toEqual(['q[on_true]>y', 'q[on_false]>n', 'y>#end', 'n>#end'])
    expect(step(end, 'y')?.next).toBe('end')
  })

  it('puts a step where ways have met', () => {
    expect(said(insert(forked, { before: 'z', within: 'q' }, mail('m'))?.steps ?? [])).toEqual(['q[on_true]>y', 'q[on_false]>n', 'y>m', 'n>m', 'm>z', 'z>#end'])
    expect(after(outlineOf(forked).nodes[0] as never)).toEqual({ before: 'z', within: 'q' })
  })

  it('outputs a new branch ways that lead on, also where nothing follows', () => {
    const made = { type: 'branch', cases: [{ if: '' }] }
    expect(said(insert(line, { after: 'a', slot: 'next' }, made)?.steps ?? [])).toContain('branch[cases[0].goto]>b')
    const last = insert(line, { after: 'c', slot: 'next' }, made)
    expect(keys(last)).toBe('a b c branch end')
    expect(said(last?.steps ?? []).slice(-2)).toEqual(['branch[cases[0].goto]>end', 'branch[otherwise]>#end'])
  })
})

describe('remove', () => {
  it('joins what was around the step', () => {
    expect(keys(remove(line, 'b'))).toBe('a c')
    expect(keys(remove(line, 'a'))).toBe('b c')
    expect(remove(line, 'b')?.key).toBe('a')
    expect(keys(remove([mail('a')], 'a'))).toBe('')
  })

  it('takes what only the step leads to', () => {
    expect(said(remove(forked, 'q')?.steps ?? [])).toEqual(['y>z', 'z>#end'])
    expect(said(remove(forked, 'n')?.steps ?? [])).toContain('q[on_false]>z')
  })

  it('leaves a case of a branch a place to lead to', () => {
    const e = remove([{ key: 'b', type: 'branch', cases: [{ if: 'x', goto: 'only' }], otherwise: 'fail' }, mail('only')], 'only')
    expect(e?.steps).toEqual([{ key: 'b', type: 'branch', cases: [{ if: 'x', goto: 'end' }], otherwise: 'fail' }, { key: 'end', type: 'end' }])
    expect(keys(dropOne([{ key: 'b', type: 'branch', cases: [{ if: 'x', goto: 'x' }, { if: 'y', goto: 'y' }], otherwise: 'end' }, mail('x', { next: 'end' }), mail('y')], 'b', 'cases', 0))).toBe('b y')
  })
})

describe('move', () => {
  it('changes places with a neighbour', () => {
    expect(keys(shift(line, 'a', 1))).toBe('b a c')
    expect(keys(shift(line, 'c', -1))).toBe('a c b')
    expect(shift(line, 'a', -1)).toBeNull()
    expect(JSON.stringify(shift(line, 'a', 1)?.steps)).not.toContain('next')
  })

  it('carries the ways of a step that decides', () => {
    const e = move([...forked, mail('last')], 'q', { after: 'z', slot: 'next' })
    expect(said(e?.steps ?? [])).toEqual(['z>q', 'q[on_true]>y', 'q[on_false]>n', 'y>last', 'n>last', 'last>#end'])
    expect(said(shift(forked, 'z', -1)?.steps ?? [])).toEqual(['z>q', 'q[on_true]>y', 'q[on_false]>n', 'y>#end', 'n>#end'])
  })

  it('moves a step from one way onto another, and refuses to move it into itself', () => {
    expect(said(move(forked, 'n', { after: 'y', slot: 'next' })?.steps ?? [])).toEqual(['q[on_true]>y', 'q[on_false]>z', 'y>n', 'n>z', 'z>#end'])
    expect(move(forked, 'q', { after: 'y', slot: 'next' })).toBeNull()
  })
})

describe('targets', () => {
  it('sorts the list so that runs go forward, and refuses circles', () => {
    const e = target([mail('a', { next: { goto: 'c' } }), mail('b', { next: 'end' }), mail('c', { next: 'end' })], 'c', 'next', 'b')
    expect(said(e?.steps ?? [])).toEqual(['a>c', 'c>b', 'b>#end'])
    expect(target(line, 'b', 'next', 'a')).toBeNull()
    expect(target(forked, 'q', 'on_error', END)).toBeNull()
    expect(goals(line, 'b')).toEqual(['c'])
  })

  it('says nothing that holds anyway', () => {
    expect(step(target(forked, 'q', 'on_false', END), 'q')).not.toHaveProperty('on_false')
    expect(step(target(line, 'a', 'on_error', FAIL), 'a')).not.toHaveProperty('on_error')
    expect(step(target(line, 'a', 'on_error', 'b'), 'a')?.on_error).toBe('continue')
    expect(step(target(line, 'a', 'on_error', END), 'a')?.on_error).toBe('end')
    expect(step(addCase([{ key: 'b', type: 'branch', cases: [] }, mail('x')], 'b'), 'b')?.cases).toEqual([{ if: '', goto: 'x' }])
  })
})

it('duplicates a step, and one that decides with the same ways', () => {
  expect(keys(duplicate(line, 'b'))).toBe('a b b_2 c')
  expect(said(duplicate(forked, 'q')?.steps ?? [])).toEqual(['q_2[on_true]>q', 'q_2[on_false]>n', 'q[on_true]>y', 'q[on_false]>n', 'y>z', 'n>z', 'z>#end'])
})

it('renames a step wherever it is named', () => {
  const doc = { steps: [mail('a'), { key: 'w', type: 'wait_for_event', step: 'a', conditions: 'steps.a.status == "sent" && steps.ab.x' }, { type: 'webhook', body: { id: '{{ steps.a.email_id }}' }, on_error: { goto: 'a' } }] }
  const text = JSON.stringify(rename(doc, 'a', 'hello'))
  expect(text).toContain('"step":"hello"')
  expect(text).toContain('steps.hello.status')
  expect(text).toContain('steps.ab.x')
  expect(text).toContain('{{ steps.hello.email_id }}')
  expect(text).toContain('"goto":"hello"')
})

// Whatever is done to whatever definition: runs go forward, keys stay unique, and a step that was
// inserted or moved away and back leaves all ways as they were.
it('keeps every way that a change says nothing about', () => {
  const wrong: string[] = []
  let seed = 7
  const dice = (n: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * n)
  }
  for (let round = 0; round < 80; round++) {
    const n = 2 + dice(7)
    const list: Keyed[] = Array.from({ length: n }, (_, i) => {
      const any = () => (i + 1 < n && dice(3) > 0 ? { goto: `s${i + 1 + dice(n - i - 1)}` } : ['continue', 'end', 'fail'][dice(3)])
      const key = `s${i}`
      const next = dice(4) === 0 ? { next: any() } : {}
      return [
        () => ({ key, type: 'delay', ...next }),
        () => ({ key, type: 'send_email', on_error: any(), ...next }),
        () => ({ key, type: 'condition', on_true: any(), on_false: any(), ...next }),
        () => ({ key, type: 'wait_for_event', on_timeout: any() }),
        () => (i + 1 < n ? { key, type: 'branch', cases: [{ if: 'x', goto: `s${i + 1 + dice(n - i - 1)}` }], otherwise: any() } : { key, type: 'end' }),
      ][dice(5)]?.() as Keyed
    })
    const all = ways(list).flatMap((w, i) => w.ways.map((x) => ({ after: list[i]?.key ?? '', slot: x.slot })))
    const place = all[dice(all.length)]
    if (!place) continue
    const check = (is: boolean, what: string) => { if (!is) wrong.push(`${what}: ${JSON.stringify({ list, place })}`) }
    const alike = (a: string[], b: string[]) => a.sort().join() === b.sort().join()
    // An error ends a run as failed where nothing is said, too.
    const meant = (steps: Step[]) => said(steps).filter((s) => !s.endsWith('[on_error]>#fail'))
    const around = (s: string) => s.startsWith('new') || (place.slot === 'next' ? s.startsWith(`${place.after}>`) || s.startsWith(`${place.after}[on_error]`) : s.startsWith(`${place.after}[${place.slot}]>`))
    const put = insert(list, place, { key: 'new', type: 'delay' })
    check(put !== null && forward(put.steps), 'inserted, and runs go forward')
    check(alike(meant(put?.steps ?? []).filter((s) => !around(s)), meant(list).filter((s) => !around(s))), 'inserted, and other ways are as they were')
    check(alike(meant(remove(put?.steps ?? [], 'new')?.steps ?? []), meant(list)), 'inserted and removed')
    const key = `s${dice(n)}`
    for (const [what, e] of Object.entries({ remove: remove(list, key), duplicate: duplicate(list, key), shift: shift(list, key, 1), move: move(list, key, place), target: target(list, key, 'on_error', `s${dice(n)}`) })) {
      check(e === null || forward(keyed(e.steps)), `${what} ${key}`)
      if (what === 'shift' || what === 'move') check(e === null || list.every((s) => e.steps.some((o) => o.key === s.key)), `${what} ${key} loses a step`)
    }
    check(find(outlineOf(list).nodes, key)?.node.key === key, `${key} stands in the outline`)
  }
  expect(wrong).toEqual([])
})
