import { useSyncExternalStore } from 'react'

const query = matchMedia('(max-width: 559px)')

// useIsNarrow reports whether the window has the width of a phone. Lists then have rows of two lines.
export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      query.addEventListener('change', changed)
      return () => query.removeEventListener('change', changed)
    },
    () => query.matches,
  )
}
