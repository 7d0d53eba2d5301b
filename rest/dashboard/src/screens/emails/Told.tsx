import { Link } from '@tanstack/react-router'
import { Check, CircleX, Clock } from 'lucide-react'
import { useGraph } from '@/api/graphql'
import { Badge } from '@/parts/Badge'
import { Failure } from '@/parts/Failure'
import { SkeletonText } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { EmailWebhooks } from './queries.gen'

const looks = { PENDING: { word: 'Pending', tone: 'warn', icon: Clock }, DELIVERED: { word: 'Delivered', tone: 'ok', icon: Check }, FAILED: { word: 'Failed', tone: 'bad', icon: CircleX } } as const

// Told is what webhook endpoints were told of an email, the newest first.
export function Told({ id }: { id: string }) {
  const told = useGraph(EmailWebhooks, { id })
  if (told.error) return <Failure error={told.error} retry={() => void told.refetch()} />
  if (told.isPending) return <SkeletonText />
  const list = told.data.email?.webhookDeliveries ?? []
  if (list.length === 0) return <p className="text-ink-3">No endpoint was told of it. <Link to="/webhooks" className="link">Webhooks</Link></p>
  return (
    <ol className="grid grid-cols-[minmax(0,1fr)] gap-4">
      {[...list].reverse().map((d) => {
        const look = looks[d.state]
        return (
          <li key={d.id}>
            <div className="flex flex-wrap items-center gap-2">
              <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge>
              <code>{d.eventType}</code>
              <span className="ml-auto text-xs text-ink-3">{d.statusCode && `${d.statusCode} · `}{d.attemptCount > 1 && `${d.attemptCount} attempts · `}<Time at={d.createdAt} seconds /></span>
            </div>
            <p className="mt-1 truncate text-xs text-ink-2"><Link to={`/webhooks/${d.webhookId}`} search={{ open: d.id } as never} className="link" title={d.webhook?.url}>{d.webhook?.url ?? 'a deleted endpoint'}</Link></p>
            {d.error && <p className={`smtp ${look.tone}`}>{d.error}</p>}
            {d.nextAttemptAt && <p className="mt-1 text-xs text-ink-2">Next try <Time at={d.nextAttemptAt} /></p>}
          </li>
        )
      })}
    </ol>
  )
}
