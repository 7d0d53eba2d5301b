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
  pageInfo: { hasNextPage: boolean; endCursor?: string | null; hasPreviousPage?: boolean; startCursor?: string | null }
}

// reversePage turns a page from the end of a list around, for a list that is shown from its end.
export const reversePage = <Node>(p: Page<Node>): Page<Node> => ({ nodes: [...p.nodes].reverse(), pageInfo: { hasNextPage: p.pageInfo.hasPreviousPage ?? false, endCursor: p.pageInfo.startCursor } })

// usePages reads a list page by page. The document has the variable `after`, and `pick` returns the list. With the
// variable `last` instead of `first`, the list is read from its end, and the document has the variable `before`. `more`
// is nextPageOf the list.
export function usePages<Data, V extends { after?: string | null }, Node>(document: Document<Data, V>, variables: Omit<V, 'after'>, pick: (data: Data) => Page<Node>, options: Options = {}) {
  const fromEnd = 'last' in variables && !!variables.last
  const pages = useInfiniteQuery({
    queryKey: [document.name, variables],
    queryFn: ({ signal, pageParam }) => query(document, { ...variables, [fromEnd ? 'before' : 'after']: pageParam } as V, signal).then((data) => (fromEnd ? reversePage(pick(data)) : pick(data))),
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page<Node>) => (last.pageInfo.hasNextPage ? last.pageInfo.endCursor : null),
    enabled: options.enabled,
    placeholderData: options.keepPrevious ? keepPreviousData : undefined,
  })
  return { ...pages, rows: pages.data?.pages.flatMap((p) => p.nodes) ?? [], more: nextPageOf(pages) }
}

// nextPageOf returns what loads the next page of a list: nothing at the end, during a request and after an error.
export function nextPageOf(p: { hasNextPage: boolean; isFetching: boolean; isError: boolean; fetchNextPage: () => unknown }) {
  return p.hasNextPage && !p.isFetching && !p.isError ? () => void p.fetchNextPage() : undefined
}

export type Pages<Node> = ReturnType<typeof usePages<unknown, { after?: string | null }, Node>>

// useAllPages reads the remaining pages of a list while it is enabled, for example for a filter in the browser.
export function useAllPages({ more }: Pages<unknown>, enabled: boolean) {
  useEffect(() => {
    if (enabled) more?.()
  }, [enabled, !more])
}
