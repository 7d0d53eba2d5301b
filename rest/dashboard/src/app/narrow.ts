import { useSyncExternalStore } from 'react'

const small = matchMedia('(max-width: 559px)')

// useNarrow tells whether the window is a phone's: lists then have rows of two lines.
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      small.addEventListener('change', changed)
      return () => small.removeEventListener('change', changed)
    },
    () => small.matches,
  )
}
