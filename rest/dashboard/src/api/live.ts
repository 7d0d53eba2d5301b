import { useEffect, useRef } from 'react'
import { store } from './store'
import { followEvents, type LiveEvent, type LiveState } from './stream'

// Live events of the account: one stream for all tabs where the browser has shared workers, else one
// for this tab.
export const live = store<LiveState>('off')

const listeners = new Set<(e: LiveEvent) => void>()

const hand = {
  event: (e: LiveEvent) => listeners.forEach((l) => l(e)),
  state: (s: LiveState) => live.set(s),
}

let stop: (() => void) | null = null

// goLive begins to follow; `account` keeps the workers of accounts apart.
export function goLive(account: string) {
  stop?.()
  if (typeof SharedWorker === 'undefined') {
    const control = new AbortController()
    void followEvents(hand, control.signal)
    stop = () => control.abort()
    return
  }
  const connect = () => {
    const worker = new SharedWorker(new URL('./live.worker.ts', import.meta.url), { type: 'module', name: `live ${account}` })
    worker.port.onmessage = ({ data }: MessageEvent<{ event?: LiveEvent; state?: LiveState }>) => {
      if (data.event) hand.event(data.event)
      if (data.state) hand.state(data.state)
    }
    return worker
  }
  let worker = connect()
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

// useLive calls back for each event of these types; a type may be the beginning of one, as `email.`.
export function useLive(types: string[], callback: (e: LiveEvent) => void) {
  const latest = useRef(callback)
  latest.current = callback
  const wanted = types.join(' ')
  useEffect(() => {
    const list = wanted.split(' ')
    const listener = (e: LiveEvent) => {
      if (list.some((t) => (t.endsWith('.') ? e.type.startsWith(t) : e.type === t))) latest.current(e)
    }
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
    }
  }, [wanted])
}

export type { LiveEvent }
