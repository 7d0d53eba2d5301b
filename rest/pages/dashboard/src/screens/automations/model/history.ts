// The states before each change, for undo and redo.

export interface History<T> {
  past: T[]
  now: T
  future: T[]
  // mark and at identify the last change: typing in one field is a single change.
  mark: string
  at: number
}

const most = 200
const together = 1500

export const started = <T>(now: T): History<T> => ({ past: [], now, future: [], mark: '', at: 0 })

// changed adds a state. Quick successive changes with the same mark are merged.
export function changed<T>(h: History<T>, next: T, mark = '', at = Date.now()): History<T> {
  if (next === h.now) return h
  const joined = mark !== '' && mark === h.mark && at - h.at < together && h.past.length > 0
  return { past: joined ? h.past : [...h.past, h.now].slice(-most), now: next, future: [], mark, at }
}

export function undone<T>(h: History<T>): History<T> {
  const before = h.past.at(-1)
  return before === undefined ? h : { past: h.past.slice(0, -1), now: before, future: [h.now, ...h.future], mark: '', at: 0 }
}

export function redone<T>(h: History<T>): History<T> {
  const [after, ...rest] = h.future
  return after === undefined ? h : { past: [...h.past, h.now], now: after, future: rest, mark: '', at: 0 }
}
