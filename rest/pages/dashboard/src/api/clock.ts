import { store } from './store'

// The browser's clock can be wrong by days, so times are shown and requested by the server's clock.
export const clockOffset = store(0) // ms by which the server's clock is ahead of the browser's

export const now = () => Date.now() + clockOffset.get()

const tolerance = 5_000 // ms: the header has whole seconds, and responses take time

// syncClock updates the offset from a response to a request sent at `requestedAt`.
export function syncClock(response: Response, requestedAt: number) {
  const serverTime = Date.parse(response.headers.get('Date') ?? '')
  if (Number.isNaN(serverTime)) return
  const offset = serverTime + 500 - (requestedAt + Date.now()) / 2
  if (Math.abs(offset - clockOffset.get()) > tolerance) clockOffset.set(Math.abs(offset) > tolerance ? offset : 0)
}
