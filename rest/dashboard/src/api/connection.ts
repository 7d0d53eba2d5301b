import { hear } from './clock'
import { away } from './failed'
import { store } from './store'

// connection tells whether the service answers. While it does not, it is asked every few seconds.
export const connection = store<'up' | 'lost'>('up')

let asking = false

export function lost() {
  connection.set('lost')
  if (asking) return
  asking = true
  let wait = 1000
  const askAgain = async () => {
    try {
      const answer = await fetch('/healthz', { cache: 'no-store' })
      if (answer.ok) {
        asking = false
        connection.set('up')
        return
      }
    } catch {
      // still away
    }
    wait = Math.min(wait * 1.5, 8000)
    setTimeout(askAgain, wait)
  }
  setTimeout(askAgain, wait)
}

const wantStorage = new Set<() => void>()

// untilStored calls back once the service can read and store again, which it is asked every few seconds; each of those who wait once.
export function untilStored(then: () => void) {
  const asks = wantStorage.size > 0
  wantStorage.add(then)
  if (asks) return
  const askAgain = async () => {
    const ready = await fetch('/readyz', { cache: 'no-store' }).then((answer) => answer.ok, () => false)
    if (!ready) return void setTimeout(askAgain, 4000)
    const all = [...wantStorage]
    wantStorage.clear()
    for (const wanted of all) wanted()
  }
  setTimeout(askAgain, 4000)
}

// untilUp waits while the service is away; false: it answers.
export async function untilUp(): Promise<boolean> {
  try {
    if ((await fetch('/healthz', { cache: 'no-store' })).ok) return false
  } catch {
    // away
  }
  lost()
  await new Promise<void>((resolve) => {
    const stop = connection.follow(() => {
      if (connection.get() !== 'up') return
      stop()
      resolve()
    })
  })
  return true
}

// reach is fetch that knows when the service is away.
export async function reach(input: Request | string, init?: RequestInit): Promise<Response> {
  let response: Response
  const asked = Date.now()
  try {
    response = await fetch(input, init)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    lost()
    throw away()
  }
  hear(response, asked)
  if (response.status === 502 || response.status === 504) lost()
  return response
}
