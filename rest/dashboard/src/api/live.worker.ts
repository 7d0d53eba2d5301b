// The one event stream of a browser: all tabs of an account share this worker.
import { followEvents, type LiveState } from './stream'

const scope = self as unknown as { onconnect: ((e: MessageEvent) => void) | null }
const ports = new Set<MessagePort>()
let state: LiveState = 'connecting'
let running: AbortController | null = null
let last: string | undefined

function tell(message: unknown) {
  for (const port of ports) port.postMessage(message)
}

function begin() {
  if (running) return
  const control = new AbortController()
  running = control
  void followEvents(
    {
      event(event) {
        last = event.id
        tell({ event })
      },
      state(next) {
        state = next
        tell({ state })
      },
    },
    control.signal,
    last,
  ).finally(() => {
    if (running === control) running = null
  })
}

scope.onconnect = (e) => {
  const port = e.ports[0]
  if (!port) return
  ports.add(port)
  port.onmessage = ({ data }) => {
    if (data === 'bye') {
      ports.delete(port)
      if (ports.size === 0) {
        running?.abort()
        running = null
        last = undefined
      }
    }
  }
  port.postMessage({ state })
  begin()
}
