// What was there before each change, so that it can be taken back and made again.

export interface History<T> {
  past: T[]
  now: T
  future: T[]
  // mark and at say what the last change was about: typing in one field is one change.
  mark: string
  at: number
}

const most = 200
const together = 1500

export const started = <T>(now: T): History<T> => ({ past: [], now, future: [], mark: '', at: 0 })

// changed adds a state. Changes with one mark that follow each other at once are one.
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
