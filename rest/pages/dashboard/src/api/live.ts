import { useEffect, useRef } from 'react'
import { store } from './store'
import type { LiveEvent, LiveState } from './stream'

// live is the state of the event stream. All tabs share one stream if the browser supports shared
// workers; otherwise each tab has its own.
export const live = store<LiveState>('off')

// missed counts the gaps in the stream. After a gap, the data on the page is fetched again.
export const missed = store(0)

const listeners = new Set<(e: LiveEvent) => void>()

// dispatcher receives events from the stream, which liveUpdates.ts starts after the page has loaded.
export const dispatcher = {
  event: (e: LiveEvent) => listeners.forEach((l) => l(e)),
  state: (s: LiveState) => live.set(s),
  missed: () => missed.set(missed.get() + 1),
}

// useLive calls back for each event of these types. A type may be a prefix, such as `email.`, or `*` for all events.
export function useLive(types: string[], callback: (e: LiveEvent) => void) {
  const latest = useRef(callback)
  latest.current = callback
  const wanted = types.join(' ')
  useEffect(() => {
    const list = wanted.split(' ')
    const listener = (e: LiveEvent) => {
      if (list.some((t) => (t === '*' || (t.endsWith('.') ? e.type.startsWith(t) : e.type === t)))) latest.current(e)
    }
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
    }
  }, [wanted])
}

export type { LiveEvent }
