import { requestOf, type Document } from './document'
import { LatestEvent, LiveEvents, type LatestEventQuery, type LiveEventsSubscription } from './live.gen'

export type LiveEvent = LiveEventsSubscription['events']
export type LiveState = 'connecting' | 'live' | 'off'

interface Listener {
  event(e: LiveEvent): void
  state(s: LiveState): void
  // missed says that something may have happened that no event will tell of.
  missed(): void
}

// Place is how far the log was read, and when it was last heard of.
export interface Place {
  after?: string
  heard: number
}

const quietFor = 45_000 // ms without a heartbeat after which a stream is taken for dead
const awayFor = 5 * 60_000 // ms after which lists are read anew, rather than all that happened meanwhile

const request = <V>(document: Document<unknown, V>, variables: V, accept: string, signal: AbortSignal) =>
  fetch('/graphql', { method: 'POST', signal, headers: { 'Content-Type': 'application/json', Accept: accept }, body: JSON.stringify(requestOf(document, variables)) })

// Refused is an answer after which asking again leads nowhere.
class Refused extends Error {}

function judge(response: Response, type: string): Response {
  if (response.status === 401 || response.status === 403) throw new Refused()
  if (!response.ok || !response.headers.get('Content-Type')?.includes(type)) throw new Error(String(response.status))
  return response
}

async function latest(signal: AbortSignal): Promise<string> {
  const answer = (await judge(await request(LatestEvent, {}, 'application/json', signal), 'json').json()) as { data: LatestEventQuery }
  return answer.data.events.endCursor
}

// followEvents reads the event log by GraphQL over Server-Sent Events until `signal` ends it. A stream
// that breaks is begun anew where it was, so none is missed.
export async function followEvents(to: Listener, signal: AbortSignal, place: Place) {
  let wait = 500
  let begun = place.after !== undefined
  while (!signal.aborted) {
    to.state('connecting')
    const attempt = new AbortController()
    const stop = () => attempt.abort()
    signal.addEventListener('abort', stop)
    let guard = setTimeout(stop, quietFor)
    try {
      if (place.after && Date.now() - place.heard > awayFor) place.after = undefined
      const gap = begun && !place.after
      place.after ??= await latest(attempt.signal)
      const response = await request(LiveEvents, { after: place.after }, 'text/event-stream', attempt.signal)
      if (response.status === 400) place.after = undefined // too old
      const stream = judge(response, 'text/event-stream').body
      if (!stream) throw new Error('no stream')
      place.heard = Date.now()
      to.state('live')
      if (gap) to.missed()
      begun = true
      wait = 500
      const reader = stream.pipeThrough(new TextDecoderStream()).getReader()
      let rest = ''
      for (;;) {
        const { value, done } = await reader.read()
        if (done) break
        clearTimeout(guard)
        guard = setTimeout(stop, quietFor)
        place.heard = Date.now()
        const blocks = (rest + value).split(/\r?\n\r?\n/)
        rest = blocks.pop() ?? ''
        for (const block of blocks) {
          const event = eventOf(block)
          if (!event) continue
          place.after = event.id
          to.event(event)
        }
      }
    } catch (e) {
      if (e instanceof Refused && !signal.aborted) return to.state('off')
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
