import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Check, CircleHelp, CircleX, Clock, Inbox, RotateCw } from 'lucide-react'
import { useEffect } from 'react'
import { keyOf, useGraphQL } from '@/api/graphql'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { AddressLink } from '@/parts/AddressLink'
import { Badge, type Tone } from '@/parts/Badge'
import { CodeBlock } from '@/parts/CodeBlock'
import { CopyableId } from '@/parts/CopyButton'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { useWrite } from '@/parts/Form'
import { Detail, DetailList } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { formatDuration, Time } from '@/parts/Time'
import { TimelineEntry, Timeline } from '@/parts/Timeline'
import { lookOfDelivery } from './look'
import { WebhookFigures, WebhookDeliveryDetail, WebhookDeliveryList, type WebhookDeliveryDetailQuery, type WebhookRowFragment } from './queries.gen'

type Attempt = NonNullable<WebhookDeliveryDetailQuery['webhookDelivery']>['attempts'][number]

function lookOfAttempt(a: Attempt): { word: string; tone: Tone; icon: typeof Check } {
  if (a.outcome === null) return { word: 'Running', tone: 'info', icon: Clock }
  if (a.outcome === 'DELIVERED') return { word: `Responded ${a.statusCode ?? '2xx'}`, tone: 'ok', icon: Check }
  if (a.outcome === 'UNKNOWN') return { word: 'Interrupted', tone: 'warn', icon: CircleHelp }
  return { word: a.statusCode === null ? 'No response' : `Responded ${a.statusCode}`, tone: 'bad', icon: CircleX }
}

// Delivery shows the request to the endpoint and its response for each attempt.
export function Delivery({ id, endpoint }: { id: string; endpoint: WebhookRowFragment }) {
  const { can, has } = useViewer()
  const queries = useQueryClient()
  const detail = useGraphQL(WebhookDeliveryDetail, { id })
  const body = useQuery({ queryKey: ['WebhookDeliveryBody', id], queryFn: () => unwrap(rest.GET('/webhook-deliveries/{id}', { params: { path: { id } } })).then((a) => a.delivery.body), staleTime: Infinity })
  const d = detail.data?.webhookDelivery
  const moving = d?.state === 'PENDING'
  useEffect(() => {
    if (!moving) return
    const timer = setInterval(() => void detail.refetch(), 3000)
    return () => clearInterval(timer)
  }, [moving])
  const replay = useWrite(async () => {
    await unwrap(rest.POST('/webhook-deliveries/{id}/replay', { params: { path: { id } } }))
    for (const queryKey of [keyOf(WebhookDeliveryDetail, { id }), [WebhookDeliveryList.name], [WebhookFigures.name]]) void queries.invalidateQueries({ queryKey })
    toast.success('Replay queued')
  })
  if (detail.error && !d) return <div className="p-5"><ErrorAlert error={detail.error} retry={() => void detail.refetch()} /></div>
  if (detail.isPending) return <div className="p-5"><SkeletonText lines={6} /></div>
  if (!d) return <EmptyState icon={Inbox} title="Delivery not found">Deliveries are kept for 30 days.</EmptyState>
  const look = lookOfDelivery(d, endpoint.enabled)
  const about = d.summary.emailId
  return (
    <div className="grid gap-5 p-4 md:p-5">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge>
        <code className="min-w-0 font-medium wrap-anywhere">{d.eventType}</code>{d.isTest && <span className="chip">test</span>}
        {can('WRITE') && <button type="button" className="btn sm ml-auto" disabled={replay.busy || !endpoint.enabled || d.state === 'PENDING'} title={endpoint.enabled ? d.state === 'PENDING' ? 'Retried automatically.' : undefined : 'Enable the endpoint to replay deliveries.'} onClick={() => void replay.run()}><RotateCw aria-hidden />Replay</button>}
      </div>
      {replay.error !== null && <ErrorAlert title="Couldn’t replay" error={replay.error} retry={() => void replay.run()} />}
      <DetailList>
        <Detail name="Event"><CopyableId id={d.eventId} /></Detail>
        <Detail name="Email">{about && !d.isTest && has('sending') ? <Link to={`/emails/${about}` as string} className="link wrap-anywhere"><bdi>{d.summary.subject || about}</bdi></Link> : d.summary.subject}</Detail>
        <Detail name="Recipient">{d.summary.recipient && <AddressLink address={d.summary.recipient} />}</Detail>
        <Detail name="Queued"><Time at={d.createdAt} exact /></Detail>
        <Detail name="Completed">{d.settledAt && <Time at={d.settledAt} exact />}</Detail>
        <Detail name="Next attempt">{d.nextAttemptAt && (endpoint.enabled ? <Time at={d.nextAttemptAt} /> : 'When the endpoint is enabled')}</Detail>
        <Detail name="Replayed">{d.replays > 0 ? `${d.replays} ${d.replays === 1 ? 'time' : 'times'}` : null}</Detail>
      </DetailList>
      <section className="grid gap-2">
        <h2>Attempts</h2>
        {d.attempts.length === 0 ? <p className="text-ink-3">No attempts yet.</p> : (
          <Timeline>
            {[...d.attempts].reverse().map((a) => {
              const l = lookOfAttempt(a)
              return (
                <TimelineEntry
                  key={a.number} more={a.responseHeaders.length > 0 && (
                    <details className="mt-1 text-xs">
                      <summary className="cursor-pointer text-ink-2">Response headers</summary>
                      <CodeBlock copy={false} wrap text={a.responseHeaders.map((h) => `${h.name}: ${h.value}`).join('\n')} />
                    </details>
                  )} icon={l.icon} tone={l.tone} title={`${a.number}. ${l.word}`} at={a.startedAt} reply={a.error ?? (a.response || null)}
                  details={[a.durationMs !== null && formatDuration(a.durationMs), a.remoteAddr && `from ${a.remoteAddr}`, a.outcome === 'UNKNOWN' && 'unknown whether it was received', a.outcome === 'DELIVERED' && !a.response && 'no body'].filter(Boolean).join(', ')}
                />
              )
            })}
          </Timeline>
        )}
      </section>
      <section className="grid min-w-0 gap-2">
        <h2>Request</h2>
        <CodeBlock copy={false} wrap text={[`POST ${endpoint.url}`, 'Content-Type: application/json', `Service-Event-Id: ${d.eventId}`, 'Service-Signature: t=…,v1=…'].join('\n')} />
        {body.error ? <ErrorAlert error={body.error} retry={() => void body.refetch()} /> : body.isPending ? <SkeletonText lines={3} /> : body.data ? <CodeBlock title="Body" text={JSON.stringify(body.data, null, 2)} /> : <p className="text-ink-3">The event was erased.</p>}
      </section>
    </div>
  )
}
