import { connection, untilUp } from './connection'
import { hand, live } from './live'
import { followEvents, type LiveEvent, type LiveState, type Place } from './stream'

let stop: (() => void) | null = null

// again begins anew at once where the stream is off or waits: somebody has signed in, the service is back.
export let again = () => {}

// goLive begins to follow; `account` keeps the workers of accounts apart.
export function goLive(account: string) {
  stop?.()
  if (typeof SharedWorker === 'undefined') {
    const place: Place = { heard: Date.now() }
    let control = new AbortController()
    const begin = () => void followEvents(hand, control.signal, place)
    again = () => {
      if (live.get() === 'live') return
      control.abort()
      control = new AbortController()
      begin()
    }
    stop = () => control.abort()
    begin()
    return
  }
  const connect = () => {
    const worker = new SharedWorker(new URL('./live.worker.ts', import.meta.url), { type: 'module', name: `live ${account}` })
    worker.port.onmessage = ({ data }: MessageEvent<{ event?: LiveEvent; state?: LiveState; missed?: boolean }>) => {
      if (data.event) hand.event(data.event)
      if (data.state) hand.state(data.state)
      if (data.missed) hand.missed()
    }
    return worker
  }
  let worker = connect()
  again = () => worker.port.postMessage('again')
  const leave = () => worker.port.postMessage('bye')
  const back = (e: PageTransitionEvent) => {
    if (e.persisted) worker = connect()
  }
  addEventListener('pagehide', leave)
  addEventListener('pageshow', back)
  stop = () => {
    leave()
    removeEventListener('pagehide', leave)
    removeEventListener('pageshow', back)
  }
}

// A stream that breaks is how a page without requests learns that the service is away.
let before = live.get()
live.follow(() => {
  const broken = before === 'live' && live.get() === 'connecting'
  before = live.get()
  if (broken) void untilUp()
})
connection.follow(() => {
  if (connection.get() === 'up') again()
})
