import { useGraphQL } from '@/api/graphql'
import { Time } from '@/parts/Time'
import { WebhookFirstFailure, WebhookLastSuccess } from './queries.gen'

// useFailingSince returns when the first of the deliveries was attempted that failed since the last success.
export function useFailingSince(webhookId: string) {
  const success = useGraphQL(WebhookLastSuccess, { webhookId }, { refetchInterval: 60_000 })
  const last = success.data?.webhookDeliveries?.nodes[0]?.createdAt
  const after = last ? new Date(Date.parse(last) + 1).toISOString() : null
  const failure = useGraphQL(WebhookFirstFailure, { webhookId, after }, { enabled: success.data !== undefined, keepPrevious: true, refetchInterval: 60_000 })
  const first = failure.data?.webhookDeliveries?.nodes[0]
  return { since: first && (first.attempts[0]?.startedAt ?? first.createdAt), lastSuccess: last, loading: failure.isPending }
}

// FailingSince shows the time since which every delivery to an endpoint failed, or a dash if the last one succeeded.
export function FailingSince({ webhookId }: { webhookId: string }) {
  const { since, loading } = useFailingSince(webhookId)
  return since ? <Time at={since} /> : loading ? null : <>–</>
}

// FailingNote explains since when an endpoint fails, and when it last worked.
export function FailingNote({ webhookId }: { webhookId: string }) {
  const { since, lastSuccess } = useFailingSince(webhookId)
  if (!since) return null
  return <>Failing since <Time at={since} exact />. {lastSuccess ? <>Last successful delivery: <Time at={lastSuccess} exact />.</> : 'No delivery succeeded in the last 30 days.'}</>
}
