import { beforeEach, expect, test, vi } from 'vitest'
import { ahead, hear, now } from './clock'

const answer = (date?: Date) => new Response(null, date ? { headers: { Date: date.toUTCString() } } : undefined)

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 25, 12) })
  ahead.set(0)
})

test('a clock that is right is left alone', () => {
  hear(answer(new Date(Date.now() + 3000)), Date.now())
  expect(now()).toBe(Date.now())
})

test('a clock that is wrong by a day is set right, and back again once it is right', () => {
  const truth = Date.UTC(2026, 10, 26, 12)
  hear(answer(new Date(truth)), Date.now())
  expect(Math.abs(now() - truth)).toBeLessThan(1000)
  vi.setSystemTime(truth)
  hear(answer(new Date(truth)), Date.now())
  expect(now()).toBe(truth)
})

test('an answer without the time says nothing', () => {
  hear(answer(), Date.now())
  expect(ahead.get()).toBe(0)
})
