import { CompletionContext } from '@codemirror/autocomplete'
import { EditorState } from '@codemirror/state'
import { expect, test } from 'vitest'
import { complete } from './complete'
import { blocksOf, layoutOf } from './templateTags'

test('variables are offered within an unfinished tag', () => {
  const variables = [{ name: 'order', type: 'number', example: '2202' }]
  const offer = (before: string, after = '') => complete(variables, undefined, new CompletionContext(EditorState.create({ doc: before + after }), before.length, false))
  expect(offer('<p>Hi {{ord', '}}')).toMatchObject({ from: 8, options: [{ label: 'order', detail: 'number', info: 'Example: 2202', apply: 'order' }] })
  expect(offer('{{')?.options[0]?.apply).toBe(' order }}')
  expect(offer('{% if ord')?.options[0]?.apply).toBe('order')
  expect(offer('<p>ord')).toBeNull()
  expect(offer('{{ order }} ord')).toBeNull()
  expect(offer('{{ order | mon', ' }}')).toMatchObject({ from: 11, options: expect.arrayContaining([expect.objectContaining({ label: 'money', apply: 'money: "EUR"' })]) as unknown })
  expect(offer('{{ order | append: "|" }} x |')).toBeNull()
})

test('names of layouts, partials and blocks are offered after their tags, which are closed', () => {
  const names = { layouts: ['base', 'card'], partials: ['footer'], blocks: ['content'] }
  const offer = (before: string, after = '') => complete([{ name: 'order', type: 'number', example: '' }], names, new CompletionContext(EditorState.create({ doc: before + after }), before.length, false))
  // accept returns the text after the first option was accepted.
  const accept = (before: string, after: string, position = 0) => {
    const found = offer(before, after)
    const option = found?.options[position]
    if (!found || !option || typeof option.apply !== 'function') throw new Error(`nothing is offered for ${before}`)
    let state = EditorState.create({ doc: before + after })
    const view = { state, dispatch: (spec: object) => { state = state.update(spec).state } }
    option.apply(view as never, option, found.from, before.length)
    return state.doc.toString().slice(0, state.selection.main.head) + '|' + state.doc.toString().slice(state.selection.main.head)
  }
  expect(offer('{% layout "ba')?.options.map((o) => o.label)).toEqual(['base', 'card'])
  expect(accept('{% layout "ba', '"}', 1)).toBe('{% layout "card"| %}')
  expect(accept('{% layout ', '')).toBe('{% layout "base"| %}')
  expect(accept('a {%- render "', '" -%}b')).toBe('a {%- render "footer"| -%}b')
  expect(accept('{% block "con', '')).toBe('{% block "content"| %}')
  expect(accept('{% block "con', ' text')).toBe('{% block "content"| %} text')
  expect(offer('{% render "footer", year: or')?.options[0]?.label).toBe('order')
  expect(offer('layout "ba')).toBeNull()
  expect(blocksOf('{% block "a" %}{%- block "b" %}{% block "a" %}')).toEqual(['a', 'b'])
  expect(layoutOf('x {%- layout "base" -%}')).toBe('base')
})
