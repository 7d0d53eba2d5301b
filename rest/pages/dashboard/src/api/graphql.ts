import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Document } from './document'
import { buildQueryKey, query } from './query'

export { buildQueryKey as keyOf, mutate, query } from './query'

interface Options {
  enabled?: boolean
  refetchInterval?: number
  // keep shows the previous data while the variables change.
  keepPrevious?: boolean
}

// useGraph runs a query and caches its result.
export function useGraphQL<Data, V>(document: Document<Data, V>, variables: V, { keepPrevious, ...options }: Options = {}) {
  return useQuery({
    queryKey: buildQueryKey(document, variables),
    queryFn: ({ signal }) => query(document, variables, signal),
    placeholderData: keepPrevious ? keepPreviousData : undefined,
    ...options,
  })
}

interface Page<Node> {
  nodes: Node[]
  pageInfo: { hasNextPage: boolean; endCursor?: string | null }
}

// usePages reads a list page by page. The document has the variable `after`, and `pick` returns the list.
export function usePages<Data, V extends { after?: string | null }, Node>(document: Document<Data, V>, variables: Omit<V, 'after'>, pick: (data: Data) => Page<Node>, options: Options = {}) {
  const pages = useInfiniteQuery({
    queryKey: [document.name, variables],
    queryFn: ({ signal, pageParam }) => query(document, { ...variables, after: pageParam } as V, signal).then(pick),
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page<Node>) => (last.pageInfo.hasNextPage ? last.pageInfo.endCursor : null),
    enabled: options.enabled,
    placeholderData: options.keepPrevious ? keepPreviousData : undefined,
  })
  return { ...pages, rows: pages.data?.pages.flatMap((p) => p.nodes) ?? [] }
}

export type Pages<Node> = ReturnType<typeof usePages<unknown, { after?: string | null }, Node>>

// useAllPages reads the remaining pages of a list while it is enabled, for example for a filter in the browser.
export function useAllPages({ hasNextPage, isFetching, error, fetchNextPage }: Pages<unknown>, enabled: boolean) {
  useEffect(() => {
    if (enabled && hasNextPage && !isFetching && !error) void fetchNextPage()
  }, [enabled, hasNextPage, isFetching, error])
}
