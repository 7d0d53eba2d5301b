import { beforeEach, expect, test, vi } from 'vitest'
import { clockOffset, syncClock, now } from './clock'

const response = (date?: Date) => new Response(null, date ? { headers: { Date: date.toUTCString() } } : undefined)

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 25, 12) })
  clockOffset.set(0)
})

test('keeps a correct clock', () => {
  syncClock(response(new Date(Date.now() + 3000)), Date.now())
  expect(now()).toBe(Date.now())
})

test('corrects a clock that is off by a day, and follows when it is fixed', () => {
  const truth = Date.UTC(2026, 10, 26, 12)
  syncClock(response(new Date(truth)), Date.now())
  expect(Math.abs(now() - truth)).toBeLessThan(1000)
  vi.setSystemTime(truth)
  syncClock(response(new Date(truth)), Date.now())
  expect(now()).toBe(truth)
})

test('ignores a response without a date', () => {
  syncClock(response(), Date.now())
  expect(clockOffset.get()).toBe(0)
})
