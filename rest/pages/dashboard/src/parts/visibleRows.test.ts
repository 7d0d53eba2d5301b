import { expect, test } from 'vitest'
import { visibleRange } from './visibleRows'

test('the rows in view are rendered, with some on both sides', () => {
  expect(visibleRange(0, 720, 36, 10_000)).toEqual({ start: 0, end: 36 })
  const { start, end } = visibleRange(36_000, 720, 36, 10_000)
  expect(start).toBeLessThanOrEqual(1000 - 12)
  expect(end).toBeGreaterThanOrEqual(1020 + 12)
  expect(end - start).toBeLessThan(70)
})

test('the end of the list is rendered', () => {
  expect(visibleRange(360_000 - 720, 720, 36, 10_000).end).toBe(10_000)
})

test('a list that becomes short is rendered although the box is still scrolled', () => {
  expect(visibleRange(36_000, 720, 36, 5)).toEqual({ start: 0, end: 5 })
  expect(visibleRange(36_000, 720, 36, 0)).toEqual({ start: 0, end: 0 })
})

test('every position renders all rows in view', () => {
  for (let at = 0; at < 5000; at += 7) {
    const { start, end } = visibleRange(at, 500, 52, 200)
    expect(start).toBeLessThanOrEqual(Math.floor(at / 52))
    expect(end).toBeGreaterThanOrEqual(Math.min(200, Math.ceil((at + 500) / 52)))
  }
})
