import type { Row } from './data'

// Trouble is a group of requests with the same error.
export interface Trouble {
  key: string
  status: number
  operation: string
  method: string
  code: string
  message: string
  count: number
  // last is the newest request.
  last: Row
}

// wordsOf reads the code and message of a response, which the log may have truncated.
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

// troublesOf groups failed requests by operation, status and code, most frequent first.
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
