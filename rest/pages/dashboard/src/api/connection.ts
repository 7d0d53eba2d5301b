import { syncClock } from './clock'
import { unreachableError } from './errors'
import { withMode } from './mode'
import { store } from './store'

// connection is the state of the connection to the server. While it is lost, the server is polled.
export const connection = store<'up' | 'lost'>('up')

let polling = false

export function markLost() {
  connection.set('lost')
  if (polling) return
  polling = true
  let wait = 1000
  const poll = async () => {
    try {
      const response = await fetch('/healthz', { cache: 'no-store' })
      if (response.ok) {
        polling = false
        connection.set('up')
        return
      }
    } catch {
      // still unreachable
    }
    wait = Math.min(wait * 1.5, 8000)
    setTimeout(poll, wait)
  }
  setTimeout(poll, wait)
}

const storageWaiters = new Set<() => void>()

// whenStorageReady calls `then` once the server can reach its storage again. Registering the same callback twice calls it once.
export function whenStorageReady(then: () => void) {
  const started = storageWaiters.size > 0
  storageWaiters.add(then)
  if (started) return
  const poll = async () => {
    const ready = await fetch('/readyz', { cache: 'no-store' }).then((response) => response.ok, () => false)
    if (!ready) return void setTimeout(poll, 4000)
    const all = [...storageWaiters]
    storageWaiters.clear()
    for (const resume of all) resume()
  }
  setTimeout(poll, 4000)
}

// waitUntilUp waits until the server responds. It returns false if the server was reachable from the start.
export async function waitUntilUp(): Promise<boolean> {
  try {
    if ((await fetch('/healthz', { cache: 'no-store' })).ok) return false
  } catch {
    // unreachable
  }
  markLost()
  await new Promise<void>((resolve) => {
    const stop = connection.subscribe(() => {
      if (connection.get() !== 'up') return
      stop()
      resolve()
    })
  })
  return true
}

// fetchService is fetch, and tracks whether the server is reachable.
export async function fetchService(input: Request | string, init?: RequestInit): Promise<Response> {
  let response: Response
  const requestedAt = Date.now()
  try {
    response = await fetch(...withMode(input, init))
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    markLost()
    throw unreachableError()
  }
  syncClock(response, requestedAt)
  if (response.status === 502 || response.status === 504) markLost()
  return response
}
