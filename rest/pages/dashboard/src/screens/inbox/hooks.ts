import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { fetchService } from '@/api/connection'
import { readError } from '@/api/errors'
import { useGraphQL, usePages } from '@/api/graphql'
import { WebhookDeliveryList, WebhookList } from '../webhooks/queries.gen'

// A request as the webhook receiver of development mode returns it: see rest/pages/devhooks.
export interface Hook {
  number: number
  received_at: string
  event_id: string
  event_type: string
  attempt: number
  verified: boolean
  signature_error: string
  webhook_id: string | null
  answer_status: number
  headers: { name: string; value: string }[]
  body: string
}

interface Receiver {
  url: string
  answer_status: number
  requests: Hook[]
  has_more: boolean
}

async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await fetchService(path, init)
  if (!response.ok) throw await readError(response)
  return response.json() as Promise<T>
}

const post = (path: string, body?: object) => ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) })

export const answerWith = (status: number) => post('/dev/webhooks/answer', { status })
export const clearHooks = () => post('/dev/webhooks/clear')

export const hooksKey = 'hooks'

// useReceiver fetches the receiver and its newest requests.
export function useReceiver() {
  return useQuery({ queryKey: [hooksKey], queryFn: ({ signal }) => ask<Receiver>('/dev/webhooks.json?limit=100', { signal }), placeholderData: keepPreviousData })
}

// useNextHooks polls every second for newer requests.
export function useNextHooks(after: number, on: boolean) {
  return useQuery({ queryKey: ['hooks-next', after], queryFn: ({ signal }) => ask<Receiver>(`/dev/webhooks.json?after=${after}`, { signal }), enabled: on, refetchInterval: 1000, staleTime: 0 })
}

// useEndpoint fetches the account's endpoint with a URL; null if the account has no such endpoint.
export function useEndpoint(url: string | undefined) {
  const list = usePages(WebhookList, { first: 100 }, (d) => d.webhooks, { enabled: url !== undefined })
  return { ...list, endpoint: list.isSuccess ? (list.rows.find((w) => w.url === url) ?? null) : undefined }
}

// useDelivery fetches the delivery of an event to an endpoint, repeatedly while it is in progress.
export function useDelivery(webhookId: string, eventId: string) {
  const list = useGraphQL(WebhookDeliveryList, { webhookId, first: 100 }, { refetchInterval: 1000 })
  return list.data?.webhookDeliveries?.nodes.find((d) => d.eventId === eventId)
}
