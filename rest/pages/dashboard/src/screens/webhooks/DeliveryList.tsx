import { Link } from '@tanstack/react-router'
import { RotateCw } from 'lucide-react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { useWrite } from '@/parts/Form'
import { Time } from '@/parts/Time'
import { lookOfDelivery } from './look'
import type { WebhookDeliveryState } from './queries.gen'

interface Delivery {
  id: string
  webhookId: string
  eventType: string
  state: WebhookDeliveryState
  attemptCount: number
  statusCode: number | null
  error: string | null
  createdAt: string
  nextAttemptAt: string | null
  webhook: { url: string; enabled: boolean } | null
}

// DeliveryList lists the webhook deliveries about a subject, newest first. Each can be replayed.
export function DeliveryList({ list, again }: { list: Delivery[]; again: () => void }) {
  if (list.length === 0) return <p className="text-ink-3">No endpoint received this event. <Link to="/webhooks" className="link">Webhooks</Link></p>
  return <ol className="grid grid-cols-[minmax(0,1fr)] gap-4">{[...list].reverse().map((d) => <One key={d.id} delivery={d} again={again} />)}</ol>
}

function One({ delivery: d, again }: { delivery: Delivery; again: () => void }) {
  const { can } = useViewer()
  const write = useWrite(async () => {
    await unwrap(rest.POST('/webhook-deliveries/{id}/replay', { params: { path: { id: d.id } } }))
    toast.success('Replay queued')
    again()
  })
  const look = lookOfDelivery(d, d.webhook?.enabled ?? false)
  const settled = d.state !== 'PENDING' && d.webhook?.enabled
  return (
    <li>
      <div className="flex min-h-7 items-center gap-2">
        <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge>
        <code className="truncate">{d.eventType}</code>
        {settled && can('WRITE') && <button type="button" className="btn sm ml-auto" disabled={write.busy} aria-label={`Replay ${d.eventType}`} onClick={() => void write.run()}><RotateCw aria-hidden />Replay</button>}
      </div>
      <p className="mt-1 flex items-baseline gap-3 text-xs text-ink-2">
        <Link to={`/webhooks/${d.webhookId}`} search={{ open: d.id } as never} className="link truncate" title={d.webhook?.url}>{d.webhook?.url ?? 'deleted endpoint'}</Link>
        <span className="ml-auto shrink-0 text-ink-3">{d.statusCode && `${d.statusCode} · `}{d.attemptCount > 1 && `${d.attemptCount} attempts · `}<Time at={d.createdAt} seconds /></span>
      </p>
      {d.error && <p className={`smtp ${look.tone}`}>{d.error}</p>}
      {d.nextAttemptAt && <p className="mt-1 text-xs text-ink-2">Next attempt <Time at={d.nextAttemptAt} /></p>}
      {write.error !== null && <ErrorAlert error={write.error} retry={() => void write.run()} />}
    </li>
  )
}
