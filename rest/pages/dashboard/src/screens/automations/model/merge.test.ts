import { describe, expect, it } from 'vitest'
import type { Side } from '@/screens/code/Changes'
import { merge, same, type Doc } from './merge'
import { changed, redone, started, undone } from './history'

const base: Doc = { name: 'Welcome', description: null, trigger: { event: 'user.created', re_entry: 'once' }, steps: [{ key: 'a', type: 'send_email', subject: 'Hello', text: 'x' }, { key: 'b', type: 'delay', duration: 'P1D' }, { key: 'c', type: 'send_email', subject: 'Tips' }] }
const edit = (more: Partial<Doc>): Doc => ({ ...base, ...more })
const steps = (...keys: string[]) => keys.map((k) => base.steps.find((s) => s.key === k) ?? { key: k, type: 'delay', duration: 'PT1H' })
const put = (mine: Doc, theirs: Doc, side: Side = 'mine') => merge(base, mine, theirs, () => side)
const order = (d: Doc) => d.steps.map((s) => s.key).join('')

describe('merge', () => {
  it('takes what only one has changed from that one', () => {
    const { doc, changes } = put(edit({ name: 'Hi', trigger: { ...base.trigger, event: 'signed.up' } }), edit({ steps: base.steps.map((s) => (s.key === 'b' ? { ...s, duration: 'P2D' } : s)) }))
    expect(doc.name).toBe('Hi')
    expect(doc.trigger.event).toBe('signed.up')
    expect(doc.steps[1]?.duration).toBe('P2D')
    expect(changes.map((c) => [c.path, c.by])).toEqual([['name', 'mine'], ['trigger.event', 'mine'], ['b.duration', 'theirs']])
  })

  it('merges two fields of one step, and asks where both have changed one', () => {
    const one = (more: object) => edit({ steps: base.steps.map((s) => (s.key === 'a' ? { ...s, ...more } : s)) })
    expect(put(one({ subject: 'Hey' }), one({ text: 'y' })).doc.steps[0]).toMatchObject({ subject: 'Hey', text: 'y' })
    const [mine, theirs] = [one({ subject: 'Hey' }), one({ subject: 'Hoi' })]
    expect(put(mine, theirs, 'mine').doc.steps[0]?.subject).toBe('Hey')
    expect(put(mine, theirs, 'theirs').doc.steps[0]?.subject).toBe('Hoi')
    expect(put(mine, theirs).changes).toEqual([{ path: 'a.subject', by: 'both', base: 'Hello', mine: 'Hey', theirs: 'Hoi' }])
  })

  it('lets go of a field that one has taken away', () => {
    const { text: _, ...without } = base.steps[0] as Record<string, unknown>
    expect(put(edit({ steps: [without as never, ...base.steps.slice(1)] }), edit({ name: 'x' })).doc.steps[0]).not.toHaveProperty('text')
  })

  it('keeps new steps of both behind what they stood behind', () => {
    expect(order(put(edit({ steps: steps('a', 'm', 'b', 'c') }), edit({ steps: steps('t', 'a', 'b', 'c', 'u') })).doc)).toBe('tambcu')
    expect(put(edit({ steps: steps('a', 'm', 'b', 'c') }), edit({ name: 'x' })).changes.map((c) => c.path)).toEqual(['name', 'm'])
  })

  it('deletes what one has deleted, but for what the other has changed', () => {
    expect(order(put(edit({ steps: steps('a', 'c') }), edit({ name: 'x' })).doc)).toBe('ac')
    const theirs = edit({ steps: base.steps.map((s) => (s.key === 'b' ? { ...s, duration: 'P9D' } : s)) })
    expect(order(put(edit({ steps: steps('a', 'c') }), theirs, 'theirs').doc)).toBe('abc')
    expect(order(put(edit({ steps: steps('a', 'c') }), theirs, 'mine').doc)).toBe('ac')
  })

  it('takes the order of the one who has moved steps', () => {
    expect(order(put(edit({ steps: steps('c', 'a', 'b') }), edit({ steps: steps('a', 'n', 'b', 'c') })).doc)).toBe('canb')
    expect(order(put(edit({ steps: steps('a', 'n', 'b', 'c') }), edit({ steps: steps('c', 'a', 'b') })).doc)).toBe('canb')
    const both = [edit({ steps: steps('c', 'a', 'b') }), edit({ steps: steps('b', 'a', 'c') })] as const
    expect(order(put(...both, 'mine').doc)).toBe('cab')
    expect(order(put(...both, 'theirs').doc)).toBe('bac')
    expect(put(...both).changes).toMatchObject([{ path: 'order', by: 'both' }])
  })

  it('says nothing where both have done the same', () => {
    expect(put(edit({ name: 'x', description: undefined }), edit({ name: 'x' })).changes).toEqual([])
    expect(same({ a: 1, b: [null] }, { b: [undefined], a: 1, c: null })).toBe(true)
    expect(same([1], { 0: 1 })).toBe(false)
  })
})

describe('history', () => {
  it('takes back and makes again, and forgets what was taken back once something else is done', () => {
    let h = changed(changed(started({ n: 0 }), { n: 1 }), { n: 2 })
    h = undone(h)
    expect(h.now.n).toBe(1)
    expect(redone(h).now.n).toBe(2)
    expect(redone(changed(h, { n: 3 })).now.n).toBe(3)
    expect(undone(undone(undone(h))).now.n).toBe(0)
  })

  it('joins what is typed in one field at once', () => {
    const typed = ['H', 'He', 'Hel'].reduce((h, s, i) => changed(h, { s }, 'a.subject', 1000 + i * 200), started({ s: '' }))
    expect(undone(typed).now.s).toBe('')
    expect(undone(changed(typed, { s: 'later' }, 'a.subject', 9000)).now.s).toBe('Hel')
    expect(undone(changed(typed, { s: 'x' }, 'b.text', 1500)).now.s).toBe('Hel')
  })
})
