import { useEffect, useState } from 'react'

// useIdle reports whether the page has rendered and the browser had time since. What no first page needs loads then.
export function useIdle(): boolean {
  const [idle, setIdle] = useState(false)
  useEffect(() => {
    const done = () => setIdle(true)
    if (!window.requestIdleCallback) {
      const timer = setTimeout(done, 500)
      return () => clearTimeout(timer)
    }
    const request = window.requestIdleCallback(done, { timeout: 2000 })
    return () => window.cancelIdleCallback(request)
  }, [])
  return idle
}
