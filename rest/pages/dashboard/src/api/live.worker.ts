// All tabs of an account share this worker and its event stream.
import { followEvents, type LiveState, type StreamCursor } from './stream'

const scope = self as unknown as { onconnect: ((e: MessageEvent) => void) | null }
const ports = new Set<MessagePort>()
let state: LiveState = 'connecting'
let running: AbortController | null = null
let cursor: StreamCursor = { lastHeard: Date.now() }

function broadcast(message: unknown) {
  for (const port of ports) port.postMessage(message)
}

function stop() {
  running?.abort()
  running = null
}

function start() {
  if (running) return
  const control = new AbortController()
  running = control
  const isCurrent = () => running === control
  void followEvents(
    {
      event: (event) => isCurrent() && broadcast({ event }),
      state(next) {
        if (!isCurrent()) return
        state = next
        broadcast({ state })
      },
      missed: () => isCurrent() && broadcast({ missed: true }),
    },
    control.signal,
    cursor,
  ).finally(() => {
    if (isCurrent()) running = null
  })
}

scope.onconnect = (e) => {
  const port = e.ports[0]
  if (!port) return
  ports.add(port)
  port.onmessage = ({ data }) => {
    if (data === 'disconnect') {
      ports.delete(port)
      if (ports.size > 0) return
      stop()
      cursor = { lastHeard: Date.now() }
    } else if (data === 'reconnect' && state !== 'live') {
      stop()
      start()
    }
  }
  port.postMessage({ state })
  start()
}
