import { useSyncExternalStore } from 'react'

// Store is a value outside React that components follow.
export interface Store<T> {
  get(): T
  set(value: T): void
  follow(listener: () => void): () => void
}

export function store<T>(value: T): Store<T> {
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      Array.from(listeners, (listener) => listener())
    },
    follow(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function useStore<T>(s: Store<T>): T {
  return useSyncExternalStore(s.follow, s.get)
}
