import { useInfiniteQuery } from '@tanstack/react-query'
import { done, rest } from '@/api/rest'
import type { paths } from '@/api/rest.gen'
import { terms } from '@/parts/FilterBar'

// GraphQL does not have the log, so it is read by REST.
type Answer = paths['/requests']['get']['responses']['200']['content']['application/json']
export type Row = Answer['requests'][number]
export type Filter = NonNullable<paths['/requests']['get']['parameters']['query']>

const classes: Record<string, [number, number]> = { '2xx': [200, 300], '3xx': [300, 400], '4xx': [400, 500], '5xx': [500, 600], failed: [400, 600] }
const names = { method: 'method', path: 'path', key: 'api_key_id', user: 'user_id', request: 'request_id', email: 'email_id' } as const

// filterOf reads the text of the filter. wrong says what cannot be.
export function filterOf(q: string): { filter: Filter; wrong?: string } {
  const filter: Filter = {}
  for (const { text, field, value } of terms(q)) {
    const bare = value.replaceAll('"', '')
    if (field === 'status') {
      const range = classes[bare.toLowerCase()] ?? (/^[1-5]\d\d$/.test(bare) ? [Number(bare), Number(bare) + 1] : null)
      if (!range) return { filter, wrong: `status: takes 2xx, 3xx, 4xx, 5xx, failed or a number, and not “${bare}”` }
      filter.status_from = range[0]
      filter.status_below = range[1]
    } else if (field in names) {
      filter[names[field as keyof typeof names]] = field === 'method' ? bare.toUpperCase() : bare
    } else if (bare.startsWith('/')) {
      filter.path = bare
    } else if (bare.startsWith('msg_')) {
      filter.email_id = bare
    } else if (bare.startsWith('req_')) {
      filter.request_id = bare
    } else {
      return { filter, wrong: `“${text}” is neither a path nor one of method: path: status: key: user: email: request:` }
    }
  }
  return { filter }
}

export function useRequests(filter: Filter, enabled: boolean) {
  const pages = useInfiniteQuery({
    queryKey: ['api-requests', filter],
    queryFn: ({ pageParam, signal }) => done(rest.GET('/requests', { params: { query: { limit: 50, ...filter, ...(pageParam ? { cursor: pageParam } : {}) } }, signal })),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    enabled,
  })
  return { ...pages, rows: pages.data?.pages.flatMap((p) => p.requests) ?? [] }
}
