import { keepPreviousData, useInfiniteQuery, useQuery, type QueryKey } from '@tanstack/react-query'
import { reach } from './connection'
import { requestOf, type Document } from './document'
import { ask, leaveForSignIn } from './door'
import { Failed, failureOf } from './failed'

interface Answer<Data> {
  data?: Data | null
  errors?: { message: string; path?: (string | number)[]; extensions?: { code?: string } }[]
}

const headers = { 'Content-Type': 'application/json', Accept: 'application/graphql-response+json, application/json' }

// query reads. A session that has ended leads to the sign-in page, unless `stay` says that something
// on the page would be lost.
export async function query<Data, V>(document: Document<Data, V>, variables: V, signal?: AbortSignal, stay = false): Promise<Data> {
  const response = await reach('/graphql', { method: 'POST', headers, body: JSON.stringify(requestOf(document, variables)), signal })
  if (response.status === 401) {
    if (stay && (await ask('sign-in'))) return query(document, variables, signal, stay)
    if (!stay) leaveForSignIn()
    throw await failureOf(response)
  }
  if (!response.headers.get('Content-Type')?.includes('json')) throw await failureOf(response)
  const answer = (await response.json()) as Answer<Data>
  const first = answer.errors?.[0]
  if (first) throw new Failed(first.message, { status: response.status, code: first.extensions?.code, requestId: response.headers.get('X-Request-Id') ?? '' })
  if (!answer.data) throw new Failed('The service gave no answer', { status: response.status })
  return answer.data
}

// mutate changes something by GraphQL: the queue only, all else is REST.
export const mutate = <Data, V>(document: Document<Data, V>, variables: V) => query(document, variables, undefined, true)

export const keyOf = (document: { name: string }, variables?: unknown): QueryKey => (variables === undefined ? [document.name] : [document.name, variables])

interface Options {
  enabled?: boolean
  refetchInterval?: number
  // keep shows what was there while the variables change.
  keep?: boolean
}

// useGraph reads a document and keeps it.
export function useGraph<Data, V>(document: Document<Data, V>, variables: V, { keep, ...options }: Options = {}) {
  return useQuery({
    queryKey: keyOf(document, variables),
    queryFn: ({ signal }) => query(document, variables, signal),
    placeholderData: keep ? keepPreviousData : undefined,
    ...options,
  })
}

interface Page<Node> {
  nodes: Node[]
  pageInfo: { hasNextPage: boolean; endCursor?: string | null }
}

// usePages reads a list page by page; the document takes `after`, and `pick` finds the list in it.
export function usePages<Data, V extends { after?: string | null }, Node>(document: Document<Data, V>, variables: Omit<V, 'after'>, pick: (data: Data) => Page<Node>, options: Options = {}) {
  const pages = useInfiniteQuery({
    queryKey: [document.name, variables],
    queryFn: ({ signal, pageParam }) => query(document, { ...variables, after: pageParam } as V, signal).then(pick),
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page<Node>) => (last.pageInfo.hasNextPage ? last.pageInfo.endCursor : null),
    enabled: options.enabled,
    placeholderData: options.keep ? keepPreviousData : undefined,
  })
  return { ...pages, rows: pages.data?.pages.flatMap((p) => p.nodes) ?? [] }
}
