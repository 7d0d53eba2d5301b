import { expect, test } from 'vitest'
import { eventOf } from './stream'

test('an event is read of a block of the stream', () => {
  const data = { data: { events: { id: 'evt_1', type: 'email.sent', createdAt: '2026-01-01T00:00:00.000Z', data: {} } } }
  expect(eventOf(`event: next\ndata: ${JSON.stringify(data)}`)?.id).toBe('evt_1')
  expect(eventOf(`event: next\r\ndata: ${JSON.stringify(data)}`)?.type).toBe('email.sent')
})

test('heartbeats and other events are nothing', () => {
  for (const block of [':', ': beat', 'event: next', 'event: complete\ndata: ', 'data: {}', 'retry: 500']) expect(eventOf(block)).toBeNull()
})
