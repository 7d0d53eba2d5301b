import { expect, test } from 'vitest'
import { blocks, difference } from './diff'

const shown = (a: string, b: string) => difference(a, b).map((l) => ({ same: ' ', gone: '-', new: '+' })[l.kind] + l.text)

test('lines that went, came and stayed', () => {
  expect(shown('a\nb\nc', 'a\nx\nc')).toEqual([' a', '-b', '+x', ' c'])
  expect(shown('a\nb\nc\nd', 'b\nc\ny\nd')).toEqual(['-a', ' b', ' c', '+y', ' d'])
  expect(shown('', 'a')).toEqual(['-', '+a'])
  expect(shown('same', 'same')).toEqual([' same'])
})

test('both texts can be read from it, also where they are too large to be compared line by line', () => {
  const [a, b] = [Array.from({ length: 3000 }, (_, i) => `a${i}`).join('\n'), Array.from({ length: 3000 }, (_, i) => `b${i}`).join('\n')]
  const lines = difference(a, b)
  expect(lines.filter((l) => l.kind !== 'new').map((l) => l.text).join('\n')).toBe(a)
  expect(lines.filter((l) => l.kind !== 'gone').map((l) => l.text).join('\n')).toBe(b)
})

test('what is alike is left out, but for what stands around a change', () => {
  const a = Array.from({ length: 40 }, (_, i) => `line ${i}`)
  const b = a.with(20, 'other')
  expect(blocks(difference(a.join('\n'), b.join('\n'))).map((x) => [x.skipped, x.lines.length])).toEqual([[17, 8]])
})
