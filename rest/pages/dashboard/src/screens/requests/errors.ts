import type { Row } from './data'

// Trouble is requests that failed alike.
export interface Trouble {
  key: string
  status: number
  operation: string
  method: string
  code: string
  message: string
  count: number
  // last is the newest of them.
  last: Row
}

// wordsOf reads code and message of an answer, of which the log keeps the beginning.
export function wordsOf(body: string | null | undefined): { code: string; message: string } {
  const of = (name: string) => {
    const found = new RegExp(`"${name}"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*")`).exec(body ?? '')
    try {
      return found?.[1] ? String(JSON.parse(found[1])) : ''
    } catch {
      return ''
    }
  }
  return { code: of('code'), message: of('message') }
}

// troublesOf puts requests that failed together by operation, status and code, the most frequent first.
export function troublesOf(rows: Row[]): Trouble[] {
  const groups = new Map<string, Trouble>()
  for (const row of rows) {
    if (row.status < 400) continue
    const { code, message } = wordsOf(row.responseBody)
    const key = [row.operation, row.status, code].join(' ')
    const known = groups.get(key)
    if (!known) groups.set(key, { key, status: row.status, operation: row.operation, method: row.method, code, message, count: 1, last: row })
    else {
      known.count++
      if (row.createdAt > known.last.createdAt) Object.assign(known, { last: row, message: message || known.message })
    }
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || (a.last.createdAt < b.last.createdAt ? 1 : -1))
}
