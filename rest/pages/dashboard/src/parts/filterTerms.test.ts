import { expect, test } from 'vitest'
import { ApiError } from '@/api/errors'
import { fieldsOf, filterError, joinQuery, markedWord, parseTerms, setTerm, splitQuery, suggest, termValue } from './filterTerms'

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

const fields = fieldsOf([{ field: 'is', label: 'Any status', values: [{ value: 'bounced', name: 'Bounced' }, { value: 'sent', name: 'Sent' }] }], ['to:ada@example.com', 'is:bounced', 'before:'])

test('shows known fields as chips and keeps the query', () => {
  const { chips, text } = splitQuery('receipt is:bounced stauts:x to:"a b"', fields)
  expect(chips.map((c) => c.text)).toEqual(['is:bounced', 'to:"a b"'])
  expect(text).toBe('receipt stauts:x')
  expect(joinQuery(chips, text)).toBe('is:bounced to:"a b" receipt stauts:x')
})

test('completes fields and values', () => {
  expect(suggest('', fields, []).map((s) => s.label)).toEqual(['is:', 'to:', 'before:'])
  expect(suggest('receipt t', fields, []).map((s) => s.insert)).toEqual(['to:'])
  expect(suggest('receipt is:b', fields, []).map((s) => [s.insert, s.complete])).toEqual([['is:bounced', true]])
  expect(suggest('to:', fields, [])).toEqual([])
  expect(suggest('', fields, parseTerms('is:sent')).map((s) => s.label)).toEqual(['to:', 'before:'])
})

test('reports errors in the words of the server and marks their position', () => {
  const error = new ApiError('Invalid field: q', { status: 400, code: 'validation_error', details: { q: 'has an unknown field "stauts" at character 9; use to' } })
  expect(filterError(error)).toBe('The filter has an unknown field "stauts" at character 9; use to.')
  expect(markedWord('receipt stauts:x now', filterError(error))).toBe('stauts:x')
  expect(markedWord('receipt', 'The filter is too long.')).toBeUndefined()
  expect(filterError(new Error('offline'))).toBeUndefined()
})
