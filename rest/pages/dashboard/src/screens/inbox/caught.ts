import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { fetchService } from '@/api/connection'
import { ApiError } from '@/api/errors'
import { nextPageOf } from '@/api/graphql'

// A message as the development inbox returns it to scripts: see rest/pages/devinbox.
export interface Caught {
  id: number
  received_at: string
  mail_from: string
  rcpt_to: string[]
  from: string
  subject: string
  message_id: string
  size: number
  url: string
  source_url: string
}

export interface Line extends Caught {
  snippet: string
}

export interface Whole extends Caught {
  headers: { name: string; value: string }[]
  html: string
  text: string
  attachments: { name: string; content_type: string; content_id: string; size: number; url: string }[]
}

export interface Text {
  id: number
  received_at: string
  message_id: string
  to: string
  from: string
  text: string
  encoding: string
  segments: number
}

async function read(path: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetchService(path, { signal })
  if (!response.ok) throw new ApiError((await response.text()).trim().slice(0, 500) || `The inbox returned ${response.status}`, { status: response.status, requestId: response.headers.get('X-Request-Id') ?? '' })
  return response
}

const json = async <T>(path: string, signal?: AbortSignal) => (await read(path, signal)).json() as Promise<T>

const pageSize = 50

function listPath(base: string, to: string, before: number | null, limit = pageSize): string {
  const search = new URLSearchParams({ limit: String(limit), ...(to ? { to } : {}), ...(before ? { before: String(before) } : {}) })
  return `${base}.json?${search}`
}

// useCaught fetches the list page by page; `base` is the path of the inbox.
export function useCaught(base: string, to: string) {
  const pages = useInfiniteQuery({
    queryKey: ['inbox', base, to],
    queryFn: ({ pageParam, signal }) => json<{ mails: Line[]; has_more: boolean }>(listPath(base, to, pageParam), signal),
    initialPageParam: null as number | null,
    getNextPageParam: (last) => (last.has_more ? (last.mails.at(-1)?.id ?? null) : null),
    placeholderData: keepPreviousData,
  })
  return { ...pages, rows: pages.data?.pages.flatMap((p) => p.mails) ?? [], more: nextPageOf(pages) }
}

// useNewest polls every two seconds for newer mail.
export function useNewest(base: string, to: string) {
  return useQuery({
    queryKey: ['inbox-newest', base, to],
    queryFn: ({ signal }) => json<{ mails: Line[] }>(listPath(base, to, null), signal),
    refetchInterval: 2000,
    staleTime: 0,
  })
}

export function useWhole(base: string, id: string) {
  return useQuery({ queryKey: ['inbox-mail', base, id], queryFn: ({ signal }) => json<{ mail: Whole }>(`${base}/${encodeURIComponent(id)}/json`, signal).then((a) => a.mail), staleTime: Infinity })
}

export function useSource(path: string) {
  return useQuery({ queryKey: ['inbox-source', path], queryFn: async ({ signal }) => (await read(path, signal)).text(), staleTime: Infinity })
}

export function useTexts(base: string, to: string) {
  return useQuery({ queryKey: ['inbox-texts', base, to], queryFn: ({ signal }) => json<{ texts: Text[]; has_more: boolean }>(listPath(`${base}/sms`, to, null, 199), signal), refetchInterval: 3000 })
}

// clearInbox empties the inbox. The response redirects to the inbox's own page, which is not needed here.
export async function clearInbox(base: string): Promise<void> {
  const response = await fetchService(`${base}/clear`, { method: 'POST', redirect: 'manual' })
  if (response.type !== 'opaqueredirect' && !response.ok) throw new ApiError((await response.text()).trim(), { status: response.status })
}
