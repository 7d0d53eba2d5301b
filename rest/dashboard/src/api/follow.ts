import { hand } from './live'
import { followEvents, type LiveEvent, type LiveState } from './stream'

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
