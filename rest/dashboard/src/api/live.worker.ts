// The one event stream of a browser: all tabs of an account share this worker.
import { followEvents, type LiveState, type Place } from './stream'

const scope = self as unknown as { onconnect: ((e: MessageEvent) => void) | null }
const ports = new Set<MessagePort>()
let state: LiveState = 'connecting'
let running: AbortController | null = null
let place: Place = { heard: Date.now() }

function tell(message: unknown) {
  for (const port of ports) port.postMessage(message)
}

function stop() {
  running?.abort()
  running = null
}

function begin() {
  if (running) return
  const control = new AbortController()
  running = control
  const ours = () => running === control
  void followEvents(
    {
      event: (event) => ours() && tell({ event }),
      state(next) {
        if (!ours()) return
        state = next
        tell({ state })
      },
      missed: () => ours() && tell({ missed: true }),
    },
    control.signal,
    place,
  ).finally(() => {
    if (ours()) running = null
  })
}

scope.onconnect = (e) => {
  const port = e.ports[0]
  if (!port) return
  ports.add(port)
  port.onmessage = ({ data }) => {
    if (data === 'bye') {
      ports.delete(port)
      if (ports.size > 0) return
      stop()
      place = { heard: Date.now() }
    } else if (data === 'again' && state !== 'live') {
      stop()
      begin()
    }
  }
  port.postMessage({ state })
  begin()
}
