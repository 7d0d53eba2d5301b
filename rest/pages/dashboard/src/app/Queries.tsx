import { type Query, QueryCache, QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { connection, whenStorageReady } from '@/api/connection'
import { ApiError } from '@/api/errors'
import { missed, useLive } from '@/api/live'
import { testMode } from '@/api/mode'
import { reloadViewer } from './viewer'

const refetchFailed = () => void queries.invalidateQueries({ predicate: (q) => q.state.error !== null })

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    // Failed queries are retried once the server has storage again. The viewer knows where an account is that has moved.
    onError: (error) => {
      if (error instanceof ApiError && error.status === 503) whenStorageReady(refetchFailed)
      if (error instanceof ApiError && error.code === 'account_moved') void reloadViewer()
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      refetchOnWindowFocus: false,
      refetchInterval: testMode ? 5_000 : false, // test mode has no live updates
      networkMode: 'always',
      retry: (times, error) => times < 2 && error instanceof ApiError && (error.status === 503 || error.status === 429),
      retryDelay: (times) => 800 * 2 ** times,
    },
    mutations: { networkMode: 'always' },
  },
})

// Queries are fetched again after an outage.
connection.subscribe(() => {
  if (connection.get() === 'up') void queries.invalidateQueries()
})
missed.subscribe(() => void queries.invalidateQueries())

// Data that never changes, such as a published version, is read once.
const readOnce = (q: Query) => 'staleTime' in q.options && q.options.staleTime === Infinity

// The viewer is loaded before this component. Invalidating the key ['viewer'] loads it again.
function Viewer() {
  useQuery({ queryKey: ['viewer'], queryFn: () => reloadViewer().then(() => true), initialData: true, staleTime: Infinity })
  // A screen listens for live events only while it is open, so after any event it reads its data again when it opens.
  useLive(['*'], () => void queries.invalidateQueries({ type: 'inactive', refetchType: 'none', predicate: (q) => !readOnce(q) }))
  return null
}

export default function Queries({ children }: { children: ReactNode }) {
  return <QueryClientProvider client={queries}><Viewer />{children}</QueryClientProvider>
}
