import { pickedCompletion, type Completion as Option, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete'
import type { EditorView } from '@codemirror/view'
import type { Completion, Names } from './Code'

// filters are the filters of templates, with the text that is inserted and what it does.
const filters: [name: string, insert: string, about: string][] = [
  ['money', 'money: "EUR"', 'amount in the format of the language'], ['number', 'number', 'number in the format of the language'], ['percent', 'percent', '0.25 as 25%'],
  ['date', 'date: "long"', 'short, medium, long, full or strftime'], ['datetime', 'datetime: "medium"', 'date with time in the time zone'], ['pluralize', 'pluralize: "item", "items"', 'word for a count'],
  ['markdown', 'markdown', 'formatted text'], ['raw', 'raw', 'HTML that you trust, not escaped'], ['default', 'default: ""', 'value if it is missing'],
  ['upcase', 'upcase', ''], ['downcase', 'downcase', ''], ['capitalize', 'capitalize', ''], ['truncate', 'truncate: 50', ''], ['newline_to_br', 'newline_to_br', ''], ['url_encode', 'url_encode', ''],
  ['join', 'join: ", "', ''], ['size', 'size', ''], ['times', 'times: 1', ''], ['divided_by', 'divided_by: 100.0', ''], ['round', 'round: 2', ''],
]

// completeFilter offers the filters of an output.
function completeFilter(context: CompletionContext): CompletionResult | null {
  const before = context.matchBefore(/\{\{[^{}%]*\|\s*\w*/)
  if (!before) return null
  const word = /\w*$/.exec(before.text)?.[0] ?? ''
  return {
    from: context.pos - word.length, validFor: /^\w*$/,
    options: filters.map(([label, apply, info]) => ({ label, apply, info: info || undefined, type: 'function' })),
  }
}

// completeVariable offers the variables of a template within an unfinished tag, each with its type and example, and
// filters after a bar.
function completeVariable(variables: Completion[], context: CompletionContext): CompletionResult | null {
  const filter = completeFilter(context)
  if (filter) return filter
  const before = context.matchBefore(/\{[{%][^{}%|]*/)
  if (!before) return null
  const word = /[\w.-]*$/.exec(before.text)?.[0] ?? ''
  const output = before.text.startsWith('{{')
  const closed = context.state.sliceDoc(context.pos, context.pos + 20).trimStart().startsWith('}}')
  return {
    from: context.pos - word.length,
    options: variables.map((v) => ({
      label: v.name, detail: v.type, info: v.example === '' ? undefined : `Example: ${v.example}`, type: 'variable',
      apply: output && before.text.slice(2, before.text.length - word.length).trim() === '' ? `${before.text === '{{' ? ' ' : ''}${v.name}${closed ? '' : ' }}'}` : v.name,
    })),
    validFor: /^[\w.-]*$/,
  }
}

// completeName offers the names of layouts, partials and blocks after the tags that take them, and closes the tag.
function completeName(names: Names, context: CompletionContext): CompletionResult | null {
  const before = context.matchBefore(/\{%-?\s*(?:layout|render|block)\s+"?[\w.-]*/)
  if (!before) return null
  const [, tag, quote, word] = /(layout|render|block)\s+("?)([\w.-]*)$/.exec(before.text) ?? []
  const offered = tag === 'layout' ? names.layouts : tag === 'render' ? names.partials : names.blocks
  if (word === undefined || offered.length === 0) return null
  return {
    from: context.pos - word.length, validFor: /^[\w.-]*$/,
    options: offered.map((label) => ({ label, type: 'constant', apply: (view, option, from, to) => insertName(view, option, from, to, `${quote ? '' : '"'}${label}"`) })),
  }
}

// insertName inserts a quoted name and the end of its tag, which the editor may have closed in part already.
function insertName(view: EditorView, option: Option, from: number, to: number, name: string) {
  const [closed = ''] = /^"?(?: *-?%\}?| *\})?/.exec(view.state.sliceDoc(to, to + 10)) ?? []
  const end = /-?%\}$/.exec(closed)?.[0] ?? '%}'
  view.dispatch({ changes: { from, to: to + closed.length, insert: `${name} ${end}` }, selection: { anchor: from + name.length }, userEvent: 'input.complete', annotations: pickedCompletion.of(option) })
}

// complete offers what can be written at the position.
export const complete = (variables: Completion[], names: Names | undefined, context: CompletionContext): CompletionResult | null =>
  (names && completeName(names, context)) ?? completeVariable(variables, context)
