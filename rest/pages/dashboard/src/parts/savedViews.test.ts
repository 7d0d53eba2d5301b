// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest'
import { readViews, saveView, viewsKey, writeViews } from './savedViews'

afterEach(() => localStorage.clear())

test('keeps the views of each person and list', () => {
  const key = viewsKey('usr_1', 'acc_1', '/emails')
  expect(readViews(key)).toEqual([])
  expect(writeViews(key, saveView(saveView([], { name: 'B', q: 'is:bounced' }), { name: 'A', q: 'is:sent' }))).toBe(true)
  expect(readViews(key)).toEqual([{ name: 'A', q: 'is:sent' }, { name: 'B', q: 'is:bounced' }])
  expect(saveView(readViews(key), { name: 'A', q: 'x' })).toHaveLength(2)
  expect(readViews(viewsKey('usr_2', 'acc_1', '/emails'))).toEqual([])
})

test('ignores storage that another program wrote', () => {
  localStorage.setItem('k', '{"a":1}')
  expect(readViews('k')).toEqual([])
  localStorage.setItem('k', 'x')
  expect(readViews('k')).toEqual([])
})
