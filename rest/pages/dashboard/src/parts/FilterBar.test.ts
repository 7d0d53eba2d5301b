import { expect, test } from 'vitest'
import { parseTerms, termValue, setTerm } from './FilterBar'

test('parses a query like the server does', () => {
  expect(parseTerms('receipt to:bob@example.net is:bounced "two words"').map((t) => [t.field, t.value])).toEqual([['', 'receipt'], ['to', 'bob@example.net'], ['is', 'bounced'], ['', '"two words"']])
  expect(termValue('a tag:env=prod', 'tag')).toBe('env=prod')
  expect(termValue('a', 'tag')).toBe('')
})

test('replaces the term of the same field', () => {
  expect(setTerm('receipt is:bounced', 'is', 'opened')).toBe('receipt is:opened')
  expect(setTerm('receipt is:bounced', 'is', '')).toBe('receipt')
  expect(setTerm('', 'domain', 'a b')).toBe('domain:"a b"')
})
