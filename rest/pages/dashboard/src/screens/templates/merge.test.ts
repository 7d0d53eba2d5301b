import { expect, test } from 'vitest'
import type { Draft } from './draft'
import { merge } from './merge'

const base: Draft = { name: 'Receipt', alias: 'receipt', subject: 'Hello', from: '', replyTo: '', category: '', html: '<p>Hello</p>', text: '', unsubscribe: false, variables: [], translations: [] }

test('what one of two has changed is kept, whoever it was', () => {
  const mine = { ...base, subject: 'Mine', unsubscribe: true }
  const theirs = { ...base, html: '<p>Theirs</p>' }
  const merged = merge(base, mine, theirs, () => 'theirs')
  expect(merged.draft).toEqual({ ...base, subject: 'Mine', unsubscribe: true, html: '<p>Theirs</p>' })
  expect(merged.changes.map((c) => [c.path, c.by])).toEqual([['subject', 'mine'], ['html', 'theirs'], ['unsubscribe', 'mine']])
})

test('where both have changed the same, it is chosen', () => {
  const v = (key: string) => [{ key, type: 'string' as const, required: false, fallback: '', example: '' }]
  const mine = { ...base, subject: 'Mine', variables: v('mine') }
  const theirs = { ...base, subject: 'Theirs', variables: v('theirs') }
  const merged = merge(base, mine, theirs, (path) => (path === 'subject' ? 'mine' : 'theirs'))
  expect(merged.draft).toEqual({ ...base, subject: 'Mine', variables: v('theirs') })
  expect(merged.changes.every((c) => c.by === 'both')).toBe(true)
})

test('what both have written alike is no difference', () => {
  expect(merge(base, { ...base, name: 'New' }, { ...base, name: 'New' }, () => 'mine')).toEqual({ draft: { ...base, name: 'New' }, changes: [] })
})
