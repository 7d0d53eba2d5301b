import { clockOffset } from './clock'
import { testMode } from './mode'

// The page contains the results of the queries that it needs first, so that the app need not wait for them.
interface Preloaded {
  at: string
  results: Record<string, { variables: unknown; data: unknown }>
}

const maxAge = 10_000 // ms after which the results are no longer used

const text = globalThis.document?.getElementById('preloaded')?.textContent
const preloaded = text && !testMode ? (JSON.parse(text) as Preloaded) : null // of live mode
const age = () => performance.now() - ((performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming | undefined)?.responseStart ?? 0)

if (preloaded) {
  const offset = Date.parse(preloaded.at) + age() - Date.now()
  if (Math.abs(offset) > 5_000) clockOffset.set(offset)
}

// takePreloaded returns the result of a query, once, if the page contains it.
export function takePreloaded(name: string, variables: unknown): unknown {
  const found = preloaded?.results[name]
  if (!found || age() > maxAge || JSON.stringify(found.variables) !== JSON.stringify(variables)) return undefined
  delete preloaded.results[name]
  return found.data
}
