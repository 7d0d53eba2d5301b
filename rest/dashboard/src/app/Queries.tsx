import { QueryCache, QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { connection, untilStored } from '@/api/connection'
import { Failed } from '@/api/failed'
import { missed } from '@/api/live'
import { rereadViewer } from './viewer'

const readFailed = () => void queries.invalidateQueries({ predicate: (q) => q.state.error !== null })

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    // What could not be read because the service had no storage is read when it has.
    onError: (error) => {
      if (error instanceof Failed && error.status === 503) untilStored(readFailed)
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      refetchOnWindowFocus: false,
      networkMode: 'always',
      retry: (times, error) => times < 2 && error instanceof Failed && (error.status === 503 || error.status === 429),
      retryDelay: (times) => 800 * 2 ** times,
    },
    mutations: { networkMode: 'always' },
  },
})

// What could not be read while the service was away is read when it is back.
connection.follow(() => {
  if (connection.get() === 'up') void queries.invalidateQueries()
})
missed.follow(() => void queries.invalidateQueries())

// Who is signed in is read before this part is there; invalidating the key ['viewer'] reads it anew.
function Viewer() {
  useQuery({ queryKey: ['viewer'], queryFn: () => rereadViewer().then(() => true), initialData: true, staleTime: Infinity })
  return null
}

export default function Queries({ children }: { children: ReactNode }) {
  return <QueryClientProvider client={queries}><Viewer />{children}</QueryClientProvider>
}
