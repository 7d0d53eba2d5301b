import { expect, it } from 'vitest'
import { changeOf } from './figures'

it('compares shares in percentage points', () => {
  expect(changeOf(0.021, 0.01)).toBe('1.1 points more')
  expect(changeOf(0.0101, 0.0112)).toBe('0.11 points less')
  expect(changeOf(0.5, 0.5)).toBe('No change')
  expect(changeOf(0.5, null)).toBeUndefined()
})
