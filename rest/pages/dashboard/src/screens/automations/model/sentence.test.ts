import { expect, test } from 'vitest'
import { sentenceOf } from './sentence'

test('problems are sentences about what the forms show', () => {
  const said = (field: string, message = 'is required') => sentenceOf({ field, message })
  expect(said('cases[0].if')).toBe('Case 1 needs a condition')
  expect(said('conditions[1].value')).toBe('Condition 2 needs a value')
  expect(said('event')).toBe('This step needs an event')
  expect(said('subject')).toBe('This step needs a subject')
  expect(said('url')).toBe('This step needs a URL')
  expect(said('html', 'cannot be empty')).toBe('This step needs an HTML text')
  expect(said('variants[2]')).toBe('Variant 3 is empty')
  expect(said('duration', 'must be at most P30D')).toBe('Duration must be at most P30D')
  expect(said('cases[1].goto', 'must be the key of a step; there is no step x')).toBe('Case 2: next step must be the key of a step; there is no step x')
  expect(said('subject', 'line 1, column 3: there is no filter x')).toBe('Subject: line 1, column 3: there is no filter x')
  expect(said('', 'the domain is not verified')).toBe('The domain is not verified')
})
