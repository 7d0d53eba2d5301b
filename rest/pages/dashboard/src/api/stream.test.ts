import { expect, test } from 'vitest'
import { parseEvent } from './stream'

test('parses an event', () => {
  const data = { data: { events: { id: 'evt_1', type: 'email.sent', createdAt: '2026-01-01T00:00:00.000Z', data: {} } } }
  expect(parseEvent(`event: next\ndata: ${JSON.stringify(data)}`)?.id).toBe('evt_1')
  expect(parseEvent(`event: next\r\ndata: ${JSON.stringify(data)}`)?.type).toBe('email.sent')
})

test('ignores heartbeats and other events', () => {
  for (const block of [':', ': beat', 'event: next', 'event: complete\ndata: ', 'data: {}', 'retry: 500']) expect(parseEvent(block)).toBeNull()
})
