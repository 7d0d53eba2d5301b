import { connection, waitUntilUp } from './connection'
import { dispatcher, live } from './live'
import { LatestEvent, type LatestEventQuery } from './live.gen'
import { takePreloaded } from './preloaded'
import { query } from './query'
import { followEvents, type LiveEvent, type LiveState, type StreamCursor } from './stream'

let stop: (() => void) | null = null

// reconnect restarts a stream that is off or waiting, after a sign-in or an outage.
export let reconnect = () => {}

// startLiveUpdates starts the event stream. Each account has its own shared worker.
export function startLiveUpdates(account: string) {
  stop?.()
  if (typeof SharedWorker === 'undefined') {
    const cursor: StreamCursor = { lastHeard: Date.now() }
    let control = new AbortController()
    const start = () => void followEvents(dispatcher, control.signal, cursor)
    reconnect = () => {
      if (live.get() === 'live') return
      control.abort()
      control = new AbortController()
      start()
    }
    stop = () => control.abort()
    start()
    return
  }
  const connect = () => {
    const worker = new SharedWorker(new URL('./live.worker.ts', import.meta.url), { type: 'module', name: `live ${account}` })
    worker.port.onmessage = ({ data }: MessageEvent<{ event?: LiveEvent; state?: LiveState; missed?: boolean }>) => {
      if (data.event) dispatcher.event(data.event)
      if (data.state) dispatcher.state(data.state)
      if (data.missed) dispatcher.missed()
    }
    return worker
  }
  let worker = connect()
  reconnect = () => worker.port.postMessage('reconnect')
  const leave = () => worker.port.postMessage('disconnect')
  const resume = (e: PageTransitionEvent) => {
    if (e.persisted) worker = connect()
  }
  addEventListener('pagehide', leave)
  addEventListener('pageshow', resume)
  stop = () => {
    leave()
    removeEventListener('pagehide', leave)
    removeEventListener('pageshow', resume)
  }
}

// The rows in the page are older than the stream. Whatever happened in between is read again.
const preloadedEvent = takePreloaded(LatestEvent.name, {}) as LatestEventQuery | undefined
if (preloadedEvent) {
  const forget = live.subscribe(() => {
    if (live.get() !== 'live') return
    forget()
    void query(LatestEvent, {}).then(({ events }) => { if (events.endCursor !== preloadedEvent.events.endCursor) dispatcher.missed() }, () => {})
  })
}

// On an idle page, a dropped stream is the only sign that the server is unreachable.
let previousState = live.get()
live.subscribe(() => {
  const dropped = previousState === 'live' && live.get() === 'connecting'
  previousState = live.get()
  if (dropped) void waitUntilUp()
})
connection.subscribe(() => {
  if (connection.get() === 'up') reconnect()
})
