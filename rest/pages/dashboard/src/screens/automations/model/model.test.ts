import { describe, expect, it } from 'vitest'
import { outcomesOf, pathsIn, valuesOf } from './hints'
import { kinds } from '../steps/kinds'
import { recipes } from './made'
import { getIn, setIn } from './path'
import { missing, placed, standing } from './problems'
import { outlineOf, type Node } from './outline'
import { traceOf } from './trace'
import type { Doc } from './merge'
import type { Step } from './ways'

const doc: Doc = { name: 'x', trigger: { event: 'e' }, steps: [{ key: 'a', type: 'send_email', from: 'a@example.com', subject: 's', text: 't' }, { key: 'w', type: 'wait_for_event', event: 'y', timeout: 'P1D', on_timeout: { goto: 'z' } }, { key: 'b', type: 'delay', duration: 'P1D' }, { key: 'z', type: 'end' }] }

describe('paths', () => {
  it('sets what is there and what is not, and changes nothing else', () => {
    const next = setIn(doc, 'steps[1].cases[0].if', 'x > 1')
    expect(getIn(next, 'steps[1].cases[0].if')).toBe('x > 1')
    expect(next.steps[0]).toBe(doc.steps[0])
    expect(doc.steps[1]).not.toHaveProperty('cases')
  })

  it('leaves out what becomes empty, but no element of a list', () => {
    expect(setIn({ a: { b: 'x' } }, 'a.b', '')).toEqual({})
    expect(setIn({ list: [{ if: 'x' }, { if: 'y' }] }, 'list[0].if', undefined)).toEqual({ list: [{}, { if: 'y' }] })
  })
})

describe('problems', () => {
  it('stand at steps, wherever these are moved, until the field says something else', () => {
    const list = placed(doc, [{ path: 'steps[1].on_timeout.goto', message: 'no', severity: 'error' }, { path: 'trigger.event', message: 'no', severity: 'warning' }, { path: 'name', message: 'no', severity: 'error' }])
    expect(list.map((t) => [t.at, t.field, t.bad])).toEqual([['w', 'on_timeout.goto', true], ['trigger', 'event', false], ['', 'name', true]])
    const moved = { ...doc, name: 'y', steps: [...doc.steps].reverse() }
    expect(standing(list, doc, moved).map((t) => t.at)).toEqual(['w', 'trigger'])
    expect(standing(list, doc, { ...doc, steps: doc.steps.slice(0, 1) }).map((t) => t.at)).toEqual(['trigger', ''])
  })

  it('name what has to be filled in', () => {
    expect(missing(doc)).toEqual([])
    const made = (step: Step) => missing({ ...doc, steps: [step] }).map((t) => t.field)
    expect(made({ type: 'send_email', template: {} })).toEqual(['template'])
    expect(made({ type: 'send_email', subject: 'x' })).toEqual(['from', 'html'])
    expect(made({ type: 'branch', cases: [{ if: '' }, { if: 'x' }] })).toEqual(['cases[0].if'])
    expect(missing({ ...doc, name: '', trigger: {} }).map((t) => t.field)).toEqual(['name', 'event'])
  })
})

describe('hints', () => {
  it('are what events have with them and what the definition reads', () => {
    expect(pathsIn([{ name: 'Bob', address: { city: 'B' }, list: [1], 'odd-name': 1 }], { ...doc, trigger: { event: 'e', conditions: 'event.data.plan == "x"' } }))
      .toEqual(['event.email', 'event.user_id', 'event.data.address.city', 'event.data.list', 'event.data.name', 'event.data.plan'])
  })

  it('are what steps before have left', () => {
    expect(outcomesOf(doc.steps, 'w')).toEqual(['steps.a.status', 'steps.a.email_id'])
    expect(valuesOf(doc.steps, 'steps.w.status')).toEqual(['received', 'timed_out'])
    expect(valuesOf([{ key: 's', type: 'split', variants: [{ key: 'p' }, { key: 'q' }] }], 'steps.s.variant')).toEqual(['p', 'q'])
  })
})

describe('trace', () => {
  const taken = (key: string, status: string, output = {}) => ({ key, status, output, error: null })
  it('follows what steps came to', () => {
    const t = traceOf(doc.steps, [taken('a', 'sent'), taken('w', 'timed_out'), taken('z', 'completed')])
    expect([...t.taken]).toEqual(['a next', 'w on_timeout'])
    expect(t.marks.get('w')).toMatchObject({ nth: 2, tone: 'warn' })
    expect(t.marks.has('b')).toBe(false)
  })

  it('ends where the run is', () => {
    const t = traceOf(doc.steps, [taken('a', 'sent')], { key: 'w', word: 'Waits here' })
    expect([...t.taken]).toEqual(['a next'])
    expect(t.marks.get('w')).toMatchObject({ nth: 2, word: 'Waits here' })
  })

  it('says what was decided', () => {
    const steps: Step[] = [{ key: 'q', type: 'branch', cases: [{ if: 'x', goto: 'z' }, { if: 'y', goto: 'z' }] }, { key: 'z', type: 'end' }]
    const t = traceOf(steps, [taken('q', 'completed', { case: 1 }), taken('z', 'completed')])
    expect([...t.taken]).toEqual(['q cases[1].goto'])
    expect(t.marks.get('q')?.word).toBe('Case 2')
  })
})

describe('what a person begins with', () => {
  const reserved = ['in', 'true', 'false', 'null', 'first', 'last', 'size']
  const lost = (nodes: Node[]): string[] => nodes.flatMap((n) => [...(n.lost ? [n.key] : []), ...n.ways.flatMap((w) => lost(w.nodes))])
  it.each(recipes)('$name can be saved as it is', ({ doc: make }) => {
    const made = { name: 'x', ...make('a@example.com', 'e') }
    expect(missing(made)).toEqual([])
    expect(lost(outlineOf(made.steps).nodes)).toEqual([])
    expect(made.steps.map((s) => s.key).filter((k) => !k || reserved.includes(k))).toEqual([])
    expect(new Set(made.steps.map((s) => s.key)).size).toBe(made.steps.length)
  })

  it('has a step of every kind, once', () => {
    expect(kinds.map((k) => k.make({ from: '' }).type)).toEqual(kinds.map((k) => k.type))
  })
})
