import { expect, test } from 'vitest'
import { ApiError } from '@/api/errors'
import { marksOf, problemsOf } from './useRender'

const failed = (details: Record<string, string>) => new ApiError('x', { status: 400, code: 'validation_error', details })

test('errors of a draft have a field, a line and a column', () => {
  expect(problemsOf(failed({ 'draft.html': 'line 2, column 3: there is no filter nope', 'draft.text': 'line 4: contains x', 'variables.order': 'is required' }))).toEqual([
    { field: 'html', message: 'There is no filter nope', line: 2, column: 3 },
    { field: 'text', message: 'Contains x', line: 4, column: 0 },
    { field: 'variables.order', message: 'Is required', line: 0, column: 0 },
  ])
  expect(problemsOf(new Error('offline'))).toEqual([])
})

test('errors of a template that contains the draft have a position only in the draft', () => {
  expect(problemsOf(failed({ html: 'layout base, line 2, column 3: there is no filter nope', text: 'line 4: contains x', 'draft.text': 'line 5: contains y', within: 'is not a template' }), 'layout base')).toEqual([
    { field: 'html', message: 'There is no filter nope', line: 2, column: 3 },
    { field: 'text', message: 'Line 4: contains x', line: 0, column: 0 },
    { field: 'text', message: 'Contains y', line: 5, column: 0 },
    { field: 'within', message: 'Is not a template', line: 0, column: 0 },
  ])
})

test('a mark covers the tag, or the rest of the line', () => {
  const at = (text: string, line: number, column: number) => marksOf([{ field: 'html', message: 'm', line, column }], 'html', text).map((m) => text.slice(m.from, m.to))
  expect(at('a\n😀 {{ b | x }} c', 2, 3)).toEqual(['{{ b | x }}'])
  expect(at('{{ a\n{{ b }}', 1, 1)).toEqual(['{{ a'])
  expect(at('one\ntwo', 2, 0)).toEqual(['two'])
  expect(at('one', 9, 1)).toEqual([])
})
