import { describe, expect, it } from 'vitest'
import { bodyOf, missingParts, partsOf, undeclared, withParts, valuesOf, type Draft, type Variable } from './draft'

const v = (key: string, more: Partial<Variable> = {}): Variable => ({ key, type: 'string', required: false, fallback: '', example: '', ...more })
const draft: Draft = { name: 'A', alias: 'a', subject: '', from: '', replyTo: '', category: '', html: '', text: '', unsubscribe: false, variables: [], translations: [] }

describe('template draft', () => {
  it('sends only what differs, and null for what is taken away', () => {
    expect(bodyOf({ ...draft, alias: '', subject: 'Hi' }, draft)).toEqual({ alias: null, subject: 'Hi' })
    expect(bodyOf({ ...draft, variables: [v('n', { type: 'number', fallback: '3' })] }, draft)).toEqual({ variables: [{ key: 'n', type: 'number', required: false, fallback: 3 }] })
    expect(bodyOf({ ...draft, variables: [v('e', { emptyFallback: true })] }, draft)).toEqual({ variables: [{ key: 'e', type: 'string', required: false, fallback: '' }] })
    expect(bodyOf({ ...draft, variables: [v('o', { type: 'object', example: '{"a":1}' })] }, draft)).toEqual({ variables: [{ key: 'o', type: 'object', required: false, example: { a: 1 } }] })
  })

  it('edits the parts of one language', () => {
    const two = { ...draft, subject: 'Hi', html: '<p>Hi', translations: [{ locale: 'pt-BR', subject: 'Oi', html: '', text: '' }, { locale: 'de', subject: '', html: '', text: 'Hallo {{ gone }}' }] }
    expect(partsOf(two, 'pt-BR').subject).toBe('Oi')
    expect(missingParts(two, 'pt-BR')).toEqual(['html'])
    expect(withParts(two, '', { html: '' })).toEqual({ html: '' })
    const changed = { ...two, ...withParts(two, 'pt-BR', { subject: '', html: '<p>Oi' }) }
    expect(bodyOf(changed, two)).toEqual({ translations: [{ locale: 'pt-BR', subject: null, html: '<p>Oi', text: null }, { locale: 'de', subject: null, html: null, text: 'Hallo {{ gone }}' }] })
    expect(undeclared(two)).toEqual(['gone'])
  })

  it('nests sample values', () => {
    expect(valuesOf([v('a', { fallback: 'none', example: 'Ada' }), v('b', { fallback: 'none' })], {})).toEqual({ a: 'Ada', b: 'none' })
    expect(valuesOf([v('customer.name'), v('count', { type: 'number' }), v('gone')], { 'customer.name': 'Ada', gone: '' })).toEqual({ customer: { name: 'Ada' }, count: 42 })
  })

  it('finds gaps without a variable', () => {
    const html = '{{ a.b }} {{c | upcase}} {% for item in items %}{{ item.x }}{% endfor %} {% if d %}{% endif %} {{ unsubscribe_url }}'
    expect(undeclared({ ...draft, html, variables: [v('a')] })).toEqual(['c', 'items', 'd'])
  })
})
