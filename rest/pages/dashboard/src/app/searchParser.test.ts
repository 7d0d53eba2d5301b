// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { parseSearch, stringifySearch } from './searchParser'

test('search parameters are plain text', () => {
  expect(stringifySearch({ q: 'is:bounced to:a+b@example.net', n: '123', empty: '', none: undefined })).toBe('?q=is%3Abounced+to%3Aa%2Bb%40example.net&n=123')
  expect(parseSearch('?n=123&q=true&x=%7B%7D')).toEqual({ n: '123', q: 'true', x: '{}' })
  expect(stringifySearch({})).toBe('')
})
