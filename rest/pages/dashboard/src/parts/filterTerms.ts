import { ApiError } from '@/api/errors'

export interface Term {
  text: string
  field: string
  value: string
}

// parseTerms parses a query into words and `field:value` terms, like the server does.
export function parseTerms(text: string): Term[] {
  return [...text.matchAll(/(?:([a-z_]+):)?("(?:[^"])*"|\S+)/gi)].map((m) => ({ text: m[0], field: m[1]?.toLowerCase() ?? '', value: m[2] ?? '' }))
}

// setTerm adds a term to a query and removes other terms of the same field.
export function setTerm(text: string, field: string, value: string): string {
  const quoted = /\s/.test(value) ? `"${value}"` : value
  return [...parseTerms(text).filter((t) => t.field !== field).map((t) => t.text), ...(value ? [`${field}:${quoted}`] : [])].join(' ')
}

export const unquote = (value: string) => value.replaceAll('"', '')
export const termValue = (text: string, field: string) => unquote(parseTerms(text).find((t) => t.field === field)?.value ?? '')

export interface Choice {
  field: string
  label: string
  values: { value: string; name: string }[]
}

// Field is a field that a query can contain.
export interface Field {
  name: string
  example: string
  values: { value: string; name: string }[]
}

// fieldsOf returns the fields in the choices and hints of a filter.
export function fieldsOf(choices: Choice[], hints: string[]): Field[] {
  const fields = new Map<string, Field>(choices.map((c) => [c.field, { name: c.field, example: c.values[0]?.value ?? '', values: c.values }]))
  for (const h of hints) {
    const [name = '', ...rest] = h.split(':')
    const old = fields.get(name)
    fields.set(name, { name, example: rest.join(':') || old?.example || '', values: old?.values ?? [] })
  }
  return [...fields.values()]
}

// splitQuery returns the terms that are shown as chips, and the rest of the query as text.
export function splitQuery(q: string, fields: Field[]): { chips: Term[]; text: string } {
  const known = new Set(fields.map((f) => f.name))
  const terms = parseTerms(q)
  const chips = terms.filter((t) => known.has(t.field) && t.value !== '')
  return { chips, text: terms.filter((t) => !chips.includes(t)).map((t) => t.text).join(' ') }
}

export const joinQuery = (chips: Term[], text: string) => [...chips.map((t) => t.text), text.trim()].filter(Boolean).join(' ')

export interface Suggestion {
  label: string
  about: string
  // insert replaces the last word of the text.
  insert: string
  // complete reports that the term has its value.
  complete: boolean
}

// suggest completes the last word of a text to a field or a value.
export function suggest(text: string, fields: Field[], used: Term[]): Suggestion[] {
  const word = /\S*$/.exec(text)?.[0] ?? ''
  const [name = '', ...rest] = word.split(':')
  const field = rest.length > 0 ? fields.find((f) => f.name === name.toLowerCase()) : undefined
  if (field) {
    const value = rest.join(':').toLowerCase()
    return field.values.filter((v) => v.value.toLowerCase().startsWith(value) || v.name.toLowerCase().startsWith(value)).map((v) => ({ label: `${field.name}:${v.value}`, about: v.name, insert: `${field.name}:${v.value}`, complete: true }))
  }
  return fields.filter((f) => f.name.startsWith(word.toLowerCase()) && !used.some((t) => t.field === f.name)).map((f) => ({ label: `${f.name}:`, about: f.example ? `such as ${f.name}:${f.example}` : '', insert: `${f.name}:`, complete: false }))
}

export const replaceLastWord = (text: string, insert: string) => text.replace(/\S*$/, insert)

// filterError returns why the server rejected the query of a list, in its own words.
export function filterError(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.code !== 'validation_error') return undefined
  const [field, reason] = Object.entries(error.fields)[0] ?? []
  if (!field || !reason) return error.message
  return `${field === 'q' || field === 'query' ? 'The filter' : `${field}:`} ${reason}.`
}

// markedWord returns the part of a query that an error refers to by its position.
export function markedWord(q: string, error: string | undefined): string | undefined {
  const at = Number(/at character (\d+)/.exec(error ?? '')?.[1])
  if (!at) return undefined
  const rest = [...q].slice(at - 1).join('')
  return parseTerms(rest)[0]?.text ?? rest
}
