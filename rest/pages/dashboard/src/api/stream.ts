import { withMode } from './mode'
import { buildRequest, type Document } from './document'
import { LatestEvent, LiveEvents, type LatestEventQuery, type LiveEventsSubscription } from './live.gen'

export type LiveEvent = LiveEventsSubscription['events']
export type LiveState = 'connecting' | 'live' | 'off'

interface Listener {
  event(e: LiveEvent): void
  state(s: LiveState): void
  // missed reports a gap in the stream.
  missed(): void
}

// StreamCursor is the id of the last event, and the time of the last sign of life.
export interface StreamCursor {
  after?: string
  lastHeard: number
}

const heartbeatTimeout = 45_000 // ms without a heartbeat until a stream is considered dead
const maxReplayAge = 5 * 60_000 // ms; after a longer gap, events are not replayed and lists are fetched again

const request = <V>(document: Document<unknown, V>, variables: V, accept: string, signal: AbortSignal) =>
  fetch(...withMode('/graphql', { method: 'POST', signal, headers: { 'Content-Type': 'application/json', Accept: accept }, body: JSON.stringify(buildRequest(document, variables)) }))

// AuthError is a response after which a retry is pointless.
class AuthError extends Error {}

function checkResponse(response: Response, type: string): Response {
  if (response.status === 401 || response.status === 403) throw new AuthError()
  if (!response.ok || !response.headers.get('Content-Type')?.includes(type)) throw new Error(String(response.status))
  return response
}

async function fetchLatestCursor(signal: AbortSignal): Promise<string> {
  const result = (await checkResponse(await request(LatestEvent, {}, 'application/json', signal), 'json').json()) as { data: LatestEventQuery }
  return result.data.events.endCursor
}

// followEvents streams the event log by GraphQL over Server-Sent Events until `signal` aborts. A stream
// that drops resumes after the last event, so that no event is missed.
export async function followEvents(listener: Listener, signal: AbortSignal, cursor: StreamCursor) {
  let backoff = 500
  let started = cursor.after !== undefined
  while (!signal.aborted) {
    listener.state('connecting')
    const attempt = new AbortController()
    const stop = () => attempt.abort()
    signal.addEventListener('abort', stop)
    let watchdog = setTimeout(stop, heartbeatTimeout)
    try {
      if (cursor.after && Date.now() - cursor.lastHeard > maxReplayAge) cursor.after = undefined
      const gap = started && !cursor.after
      cursor.after ??= await fetchLatestCursor(attempt.signal)
      const response = await request(LiveEvents, { after: cursor.after }, 'text/event-stream', attempt.signal)
      if (response.status === 400) cursor.after = undefined // too old
      const stream = checkResponse(response, 'text/event-stream').body
      if (!stream) throw new Error('no stream')
      cursor.lastHeard = Date.now()
      listener.state('live')
      if (gap) listener.missed()
      started = true
      backoff = 500
      const reader = stream.pipeThrough(new TextDecoderStream()).getReader()
      let remainder = ''
      for (;;) {
        const { value, done } = await reader.read()
        if (done) break
        clearTimeout(watchdog)
        watchdog = setTimeout(stop, heartbeatTimeout)
        cursor.lastHeard = Date.now()
        const blocks = (remainder + value).split(/\r?\n\r?\n/)
        remainder = blocks.pop() ?? ''
        for (const block of blocks) {
          const event = parseEvent(block)
          if (!event) continue
          cursor.after = event.id
          listener.event(event)
        }
      }
    } catch (e) {
      if (e instanceof AuthError && !signal.aborted) return listener.state('off')
      // the stream dropped or could not be opened
    } finally {
      clearTimeout(watchdog)
      signal.removeEventListener('abort', stop)
      attempt.abort()
    }
    if (signal.aborted) break
    listener.state('connecting')
    await new Promise((resolve) => setTimeout(resolve, backoff))
    backoff = Math.min(backoff * 2, 15_000)
  }
}

// parseEvent parses one block of a stream: `event: next` with the result as data.
export function parseEvent(block: string): LiveEvent | null {
  let name = ''
  const data: string[] = []
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith('event:')) name = line.slice(6).trim()
    else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
  }
  if (name !== 'next' || data.length === 0) return null
  const result = JSON.parse(data.join('\n')) as { data?: LiveEventsSubscription | null }
  return result.data?.events ?? null
}
