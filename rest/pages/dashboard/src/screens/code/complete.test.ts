import { CompletionContext } from '@codemirror/autocomplete'
import { EditorState } from '@codemirror/state'
import { expect, test } from 'vitest'
import { completeVariable } from './CodeMirror'

test('variables are offered within an unfinished tag', () => {
  const variables = [{ name: 'order', type: 'number', example: '2202' }]
  const offer = (before: string, after = '') => completeVariable(variables, new CompletionContext(EditorState.create({ doc: before + after }), before.length, false))
  expect(offer('<p>Hi {{ord', '}}')).toMatchObject({ from: 8, options: [{ label: 'order', detail: 'number', info: 'Example: 2202', apply: 'order' }] })
  expect(offer('{{')?.options[0]?.apply).toBe(' order }}')
  expect(offer('{% if ord')?.options[0]?.apply).toBe('order')
  expect(offer('<p>ord')).toBeNull()
  expect(offer('{{ order }} ord')).toBeNull()
  expect(offer('{{ order | mon', ' }}')).toMatchObject({ from: 11, options: expect.arrayContaining([expect.objectContaining({ label: 'money', apply: 'money: "EUR"' })]) as unknown })
  expect(offer('{{ order | append: "|" }} x |')).toBeNull()
})
