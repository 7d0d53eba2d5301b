// Conditions as rows of a form. Expressions that rows cannot represent stay text.

export interface Row {
  // left is a path: `event.data.plan`, `steps.hello.status`.
  left: string
  sign: Sign
  // right is the typed value: a number, true, false, or otherwise a text.
  right: string
  // quoted: a text, even if it looks like a number.
  quoted: boolean
}

export interface Rows {
  all: boolean
  rows: Row[]
}

export type Sign = '==' | '!=' | '>' | '>=' | '<' | '<=' | 'has' | 'lacks' | 'contains' | 'starts' | 'in'

export const signs: { sign: Sign; name: string; short: string; unary?: boolean }[] = [
  { sign: '==', name: 'is', short: 'is' },
  { sign: '!=', name: 'is not', short: 'is not' },
  { sign: '>', name: 'is greater than', short: '>' },
  { sign: '>=', name: 'is at least', short: '≥' },
  { sign: '<', name: 'is less than', short: '<' },
  { sign: '<=', name: 'is at most', short: '≤' },
  { sign: 'contains', name: 'contains', short: 'contains' },
  { sign: 'starts', name: 'starts with', short: 'starts with' },
  { sign: 'in', name: 'is one of', short: 'is one of' },
  { sign: 'has', name: 'is present', short: 'is present', unary: true },
  { sign: 'lacks', name: 'is missing', short: 'is missing', unary: true },
]

const path = '[A-Za-z_]\\w*(?:\\.[A-Za-z_]\\w*)*'
const text = '"(?:[^"\\\\]|\\\\.)*"'
const value = `${text}|'(?:[^'\\\\]|\\\\.)*'|-?\\d+(?:\\.\\d+)?|true|false`
const compared = new RegExp(`^(${path})\\s*(==|!=|>=|<=|>|<)\\s*(${value})$`)
const given = new RegExp(`^(!?)\\s*has\\(\\s*(${path})\\s*\\)$`)
const called = new RegExp(`^(${path})\\.(contains|startsWith)\\(\\s*(${text})\\s*\\)$`)
const among = new RegExp(`^(${path})\\s+in\\s+\\[(.*)\\]$`)

const words = new RegExp(`^(?:${path})$`)
const literal = /^(?:-?\d+(?:\.\d+)?|true|false)$/

// unquoted returns the content of a CEL string; null if it has escapes that JSON does not have.
function unquoted(source: string): string | null {
  try {
    return JSON.parse(source.startsWith("'") ? `"${source.slice(1, -1).replaceAll('"', '\\"').replaceAll("\\'", "'")}"` : source) as string
  } catch {
    return null
  }
}

function rowOf(source: string): Row | null {
  const plain = (left: string, sign: Sign, right: string): Row | null => {
    if (!/^["']/.test(right)) return { left, sign, right, quoted: false }
    const said = unquoted(right)
    return said === null ? null : { left, sign, right: said, quoted: true }
  }
  let m = compared.exec(source)
  if (m) return plain(m[1] ?? '', m[2] as Sign, m[3] ?? '')
  m = given.exec(source)
  if (m) return { left: m[2] ?? '', sign: m[1] ? 'lacks' : 'has', right: '', quoted: false }
  m = called.exec(source)
  if (m) return plain(m[1] ?? '', m[2] === 'contains' ? 'contains' : 'starts', m[3] ?? '')
  m = among.exec(source)
  if (m) {
    const list = cut(m[2] ?? '', ',').map((s) => (/^["']/.test(s) ? unquoted(s) : null))
    if (list.length > 0 && list.every((s) => s !== null && !s.includes(',') && s.trim() === s && s !== '')) return { left: m[1] ?? '', sign: 'in', right: list.join(', '), quoted: true }
  }
  return null
}

// cut splits at an operator outside of strings and brackets.
function cut(source: string, at: string): string[] {
  const out: string[] = []
  let depth = 0
  let quote = ''
  let from = 0
  for (let i = 0; i < source.length; i++) {
    const c = source[i] ?? ''
    if (quote) {
      if (c === '\\') i++
      else if (c === quote) quote = ''
    } else if (c === '"' || c === "'") quote = c
    else if ('([{'.includes(c)) depth++
    else if (')]}'.includes(c)) depth--
    else if (depth === 0 && source.startsWith(at, i)) {
      out.push(source.slice(from, i).trim())
      from = i + at.length
      i = from - 1
    }
  }
  out.push(source.slice(from).trim())
  return out
}

// rowsOf converts an expression to rows; null if they cannot represent it.
export function rowsOf(source: string): Rows | null {
  const whole = source.trim()
  if (whole === '') return { all: true, rows: [] }
  const any = cut(whole, '||')
  const all = cut(whole, '&&')
  if (any.length > 1 && all.length > 1) return null
  const rows = (any.length > 1 ? any : all).map(rowOf)
  return rows.every((r) => r !== null) ? { all: any.length === 1, rows } : null
}

const side = (row: Row) => (!row.quoted && literal.test(row.right.trim()) ? row.right.trim() : JSON.stringify(row.right))

function textOfRow(row: Row): string {
  switch (row.sign) {
    case 'has':
      return `has(${row.left})`
    case 'lacks':
      return `!has(${row.left})`
    case 'contains':
      return `${row.left}.contains(${JSON.stringify(row.right)})`
    case 'starts':
      return `${row.left}.startsWith(${JSON.stringify(row.right)})`
    case 'in':
      return `${row.left} in [${row.right.split(',').map((s) => JSON.stringify(s.trim())).join(', ')}]`
    default:
      return `${row.left} ${row.sign} ${side(row)}`
  }
}

// whole reports whether a row is complete.
export const whole = (row: Row) => words.test(row.left) && (row.sign === 'has' || row.sign === 'lacks' || row.sign === '==' || row.sign === '!=' || row.right.trim() !== '')

// textOfRows converts rows to an expression. Incomplete rows are omitted.
export const textOfRows = ({ all, rows }: Rows) => rows.filter(whole).map(textOfRow).join(all ? ' && ' : ' || ')

const short = (left: string) => left.replace(/^(?:event|trigger)\.data\./, '').replace(/^(?:event|trigger)\./, '')

// wordsOfExpression describes a condition in words, or returns it unchanged.
export function wordsOfExpression(source: unknown): string {
  if (typeof source !== 'string' || source.trim() === '') return ''
  const read = rowsOf(source)
  if (!read) return source
  return read.rows.map((r) => {
    const sign = signs.find((s) => s.sign === r.sign)
    return sign?.unary ? `${short(r.left)} ${sign.short}` : `${short(r.left)} ${sign?.short} ${r.right === '' ? 'empty' : r.right}`
  }).join(read.all ? ' and ' : ' or ')
}
