import { store } from './store'

// The clock of the service. That of a browser can be wrong by days: what is told of times, and what is
// asked for by time, goes by this one.
export const ahead = store(0) // ms by which the service's clock is ahead of the browser's

export const now = () => Date.now() + ahead.get()

const ignored = 5_000 // ms: the header has whole seconds, and answers take their time

// hear learns the time from an answer to what was asked at `asked`.
export function hear(answer: Response, asked: number) {
  const told = Date.parse(answer.headers.get('Date') ?? '')
  if (Number.isNaN(told)) return
  const found = told + 500 - (asked + Date.now()) / 2
  if (Math.abs(found - ahead.get()) > ignored) ahead.set(Math.abs(found) > ignored ? found : 0)
}
