import { useRouterState } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

// useIdle reports whether the first page is shown and the browser had time since. What no first page needs loads then.
export function useIdle(): boolean {
  const [idle, setIdle] = useState(false)
  const shown = useRouterState({ select: (s) => s.resolvedLocation !== undefined })
  useEffect(() => {
    if (!shown) return
    const done = () => setIdle(true)
    if (!window.requestIdleCallback) {
      const timer = setTimeout(done, 500)
      return () => clearTimeout(timer)
    }
    const request = window.requestIdleCallback(done, { timeout: 2000 })
    return () => window.cancelIdleCallback(request)
  }, [shown])
  return idle
}
