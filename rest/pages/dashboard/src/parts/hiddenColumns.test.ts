// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { readHidden, writeHidden } from './hiddenColumns'

test('keeps the hidden columns of a list', () => {
  writeHidden('a', ['tags', 'domain'])
  expect(readHidden('a')).toEqual(['tags', 'domain'])
  expect(readHidden('b')).toEqual([])
  localStorage.setItem('a', '{}')
  expect(readHidden('a')).toEqual([])
})
