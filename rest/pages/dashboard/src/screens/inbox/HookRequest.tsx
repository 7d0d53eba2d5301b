import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowLeft, RotateCw, ShieldAlert, ShieldCheck } from 'lucide-react'
import { unwrap, rest } from '@/api/rest'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { CodeBlock } from '@/parts/CodeBlock'
import { CopyableId } from '@/parts/CopyButton'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { useWrite } from '@/parts/Form'
import { Detail, DetailList } from '@/parts/Page'
import { Tabs } from '@/parts/Tabs'
import { Time } from '@/parts/Time'
import { lookOfDelivery } from '../webhooks/look'
import { WebhookDeliveryList } from '../webhooks/queries.gen'
import { useDelivery, type Hook } from './hooks'

// HookRequest is one received webhook request, with the outcome of its delivery.
export function HookRequest({ hook: h, onClose }: { hook: Hook; onClose: () => void }) {
  const [address, change] = useSearchParams()
  const tab = address.tab === 'headers' ? 'headers' : 'body'
  return (
    <div className="grid min-w-0 gap-4 py-4">
      <div className="px-4 md:hidden"><button type="button" className="btn sm" onClick={onClose}><ArrowLeft aria-hidden />All webhooks</button></div>
      <div className="grid gap-3 px-4 md:px-6">
        <h2 className="font-mono wrap-anywhere">{h.event_type || '(no event)'}</h2>
        <div className="flex flex-wrap items-center gap-2">
          {h.verified ? <Badge tone="ok" icon={ShieldCheck}>Signature verified</Badge> : <Badge tone="bad" icon={ShieldAlert}>Signature not verified</Badge>}
          {h.signature_error && <span className="text-xs text-bad">{h.signature_error}.</span>}
        </div>
        {h.webhook_id && h.event_id && <Delivery webhookId={h.webhook_id} eventId={h.event_id} />}
        <DetailList>
          <Detail name="Received"><Time at={h.received_at} exact /></Detail>
          <Detail name="Response"><span className={h.answer_status < 300 ? '' : 'text-bad'}>{h.answer_status}</span></Detail>
          <Detail name="Event">{h.event_id && <CopyableId id={h.event_id} />}</Detail>
          <Detail name="Attempt">{h.attempt || null}</Detail>
        </DetailList>
      </div>
      <Tabs label="Parts of the request" tabs={[{ key: 'body', name: 'Body' }, { key: 'headers', name: 'Headers', count: h.headers.length }]} value={tab} onChange={(key) => change({ tab: key === 'body' ? undefined : key })}>
        <div className="px-4 pt-4 md:px-6">
          {tab === 'body' ? <CodeBlock text={pretty(h.body)} wrap max="" /> : <CodeBlock text={h.headers.map((f) => `${f.name}: ${f.value}`).join('\n')} wrap max="" />}
        </div>
      </Tabs>
    </div>
  )
}

// Delivery shows the outcome of all attempts, with a button to deliver the event again.
function Delivery({ webhookId, eventId }: { webhookId: string; eventId: string }) {
  const { can } = useViewer()
  const queries = useQueryClient()
  const d = useDelivery(webhookId, eventId)
  const replay = useWrite(async () => {
    await unwrap(rest.POST('/webhook-deliveries/{id}/replay', { params: { path: { id: d?.id ?? '' } } }))
    void queries.invalidateQueries({ queryKey: [WebhookDeliveryList.name] })
    toast.success('Replay queued')
  })
  if (!d) return null
  const look = lookOfDelivery(d)
  return (
    <>
      <div className="flex min-h-8 flex-wrap items-center gap-2 rounded-control bg-sunken px-3 py-1.5">
        <Link to={`/webhooks/${webhookId}`} search={{ open: d.id } as never} className="link">Delivery</Link>
        <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge>
        <span className="text-xs text-ink-3">
          {d.attemptCount} {d.attemptCount === 1 ? 'attempt' : 'attempts'}{d.nextAttemptAt && <>, next <Time at={d.nextAttemptAt} /></>}{d.replays > 0 && `, replayed ${d.replays === 1 ? 'once' : `${d.replays} times`}`}
        </span>
        {can('WRITE') && d.state !== 'PENDING' && <button type="button" className={`btn sm ml-auto ${d.state === 'FAILED' ? 'primary' : ''}`} disabled={replay.busy} onClick={() => void replay.run()}><RotateCw aria-hidden />Replay</button>}
      </div>
      {replay.error !== null && <ErrorAlert title="Couldn’t replay" error={replay.error} retry={() => void replay.run()} />}
    </>
  )
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
