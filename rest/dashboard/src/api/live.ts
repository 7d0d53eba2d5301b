import { useEffect, useRef } from 'react'
import { store } from './store'
import type { LiveEvent, LiveState } from './stream'

// Live events of the account: one stream for all tabs where the browser has shared workers, else one
// for this tab.
export const live = store<LiveState>('off')

// missed counts how often something may have happened that no event tells of: what is shown is read anew.
export const missed = store(0)

const listeners = new Set<(e: LiveEvent) => void>()

// hand takes what the stream brings; follow.ts, which is loaded after the page, owns the stream.
export const hand = {
  event: (e: LiveEvent) => listeners.forEach((l) => l(e)),
  state: (s: LiveState) => live.set(s),
  missed: () => missed.set(missed.get() + 1),
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
