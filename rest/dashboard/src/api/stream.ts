import { requestOf } from './document'
import { LiveEvents, type LiveEventsSubscription } from './live.gen'

export type LiveEvent = LiveEventsSubscription['events']
export type LiveState = 'connecting' | 'live' | 'off'

interface Listener {
  event(e: LiveEvent): void
  state(s: LiveState): void
}

const quietFor = 45_000 // ms without a heartbeat after which a stream is taken for dead

// followEvents reads the event log by GraphQL over Server-Sent Events until `signal` ends it. A stream
// that breaks is begun anew behind the last event, so none is missed.
export async function followEvents(to: Listener, signal: AbortSignal, after?: string) {
  let wait = 500
  while (!signal.aborted) {
    to.state('connecting')
    const attempt = new AbortController()
    const stop = () => attempt.abort()
    signal.addEventListener('abort', stop)
    let guard = setTimeout(stop, quietFor)
    try {
      const response = await fetch('/graphql', {
        method: 'POST', signal: attempt.signal, headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' }, body: JSON.stringify(requestOf(LiveEvents, { after })),
      })
      if (!response.ok || !response.body || !response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
        if (response.status === 400) after = undefined // too old: go on from now
        if (response.status === 401 || response.status === 403) return to.state('off')
        throw new Error(String(response.status))
      }
      to.state('live')
      wait = 500
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      let rest = ''
      for (;;) {
        const { value, done } = await reader.read()
        if (done) break
        clearTimeout(guard)
        guard = setTimeout(stop, quietFor)
        const blocks = (rest + value).split(/\r?\n\r?\n/)
        rest = blocks.pop() ?? ''
        for (const block of blocks) {
          const event = eventOf(block)
          if (!event) continue
          after = event.id
          to.event(event)
        }
      }
    } catch {
      // broken off, or never begun
    } finally {
      clearTimeout(guard)
      signal.removeEventListener('abort', stop)
      attempt.abort()
    }
    if (signal.aborted) break
    to.state('connecting')
    await new Promise((resolve) => setTimeout(resolve, wait))
    wait = Math.min(wait * 2, 15_000)
  }
}

// eventOf reads one block of a stream: `event: next` with the result as data.
export function eventOf(block: string): LiveEvent | null {
  let name = ''
  const data: string[] = []
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith('event:')) name = line.slice(6).trim()
    else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
  }
  if (name !== 'next' || data.length === 0) return null
  const answer = JSON.parse(data.join('\n')) as { data?: LiveEventsSubscription | null }
  return answer.data?.events ?? null
}
