import { expect, test } from 'vitest'
import { terms, termOf, withTerm } from './FilterBar'

test('a search text is taken apart as the service does', () => {
  expect(terms('receipt to:bob@example.net is:bounced "two words"').map((t) => [t.field, t.value])).toEqual([['', 'receipt'], ['to', 'bob@example.net'], ['is', 'bounced'], ['', '"two words"']])
  expect(termOf('a tag:env=prod', 'tag')).toBe('env=prod')
  expect(termOf('a', 'tag')).toBe('')
})

test('a term takes the place of the one of its field', () => {
  expect(withTerm('receipt is:bounced', 'is', 'opened')).toBe('receipt is:opened')
  expect(withTerm('receipt is:bounced', 'is', '')).toBe('receipt')
  expect(withTerm('', 'domain', 'a b')).toBe('domain:"a b"')
})
