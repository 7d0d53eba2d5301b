import { QueryClient } from '@tanstack/react-query'
import { connection } from '@/api/connection'
import { Failed } from '@/api/failed'

export const queries = new QueryClient({
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
