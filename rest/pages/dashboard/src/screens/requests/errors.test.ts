import { expect, test } from 'vitest'
import type { Row } from './data'
import { troublesOf, wordsOf } from './errors'

const row = (id: string, operation: string, status: number, code: string, createdAt: string) => ({ id, operation, status, method: 'POST', path: '/api/emails', createdAt, responseBody: JSON.stringify({ error: { message: `of ${id}`, code } }) }) as unknown as Row

test('what failed alike is one line, the most frequent first', () => {
  const all = [row('a', 'sendEmail', 400, 'validation_error', '2026-01-01'), row('b', 'sendEmail', 400, 'validation_error', '2026-01-03'), row('c', 'getDomain', 404, 'not_found', '2026-01-02'), row('d', 'sendEmail', 200, '', '2026-01-04'), row('e', 'sendEmail', 429, 'rate_limited', '2026-01-01')]
  expect(troublesOf(all).map((t) => [t.operation, t.status, t.count, t.last.id, t.message])).toEqual([['sendEmail', 400, 2, 'b', 'of b'], ['getDomain', 404, 1, 'c', 'of c'], ['sendEmail', 429, 1, 'e', 'of e']])
})

test('words are read of an answer that was cut, and are none where there are none', () => {
  expect(wordsOf('{"error":{"message":"a \\"b\\" c","code":"conflict","details":{"x')).toEqual({ code: 'conflict', message: 'a "b" c' })
  expect(wordsOf(null)).toEqual({ code: '', message: '' })
})
