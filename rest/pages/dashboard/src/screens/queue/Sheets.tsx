import { Link } from '@tanstack/react-router'
import { useViewer } from '@/app/viewer'
import { CopyableId } from '@/parts/CopyButton'
import { Detail, DetailList } from '@/parts/Page'
import { formatDuration, Time } from '@/parts/Time'
import { Acts } from './BulkBar'
import type { QueueBacklogsQuery, QueueRecipientsQuery } from './queries.gen'
import { StateBadge, States } from './state'

// Words is the complete reply of the receiving server.
function Words({ text }: { text: string | null }) {
  if (!text) return <p className="text-ink-3">No response from the server yet.</p>
  return (
    <div>
      <h3 className="text-xs font-medium text-ink-3">Last server response</h3>
      <p className="smtp warn">{text}</p>
    </div>
  )
}

export function DestinationFacts({ backlog }: { backlog: QueueBacklogsQuery['queueByDestination'][number] }) {
  const viewer = useViewer()
  return (
    <div className="grid gap-4 p-4 md:p-5">
      <Words text={backlog.diagnostic} />
      <DetailList>
        <Detail name="Queued">{backlog.total.toLocaleString()}</Detail>
        <Detail name="Status"><States {...backlog} wrap /></Detail>
        <Detail name="Oldest">{formatDuration(backlog.oldestAgeSeconds * 1000)}</Detail>
      </DetailList>
      <div><Link to="/queue" search={{ tab: 'recipients', destination: backlog.destination } as never} className="link under">View recipients</Link></div>
      {viewer.can('WRITE') && <div className="flex flex-wrap gap-2"><Acts target={{ selections: [{ destination: backlog.destination, all: false }], words: backlog.destination }} /></div>}
    </div>
  )
}

export function RecipientFacts({ entry }: { entry: QueueRecipientsQuery['queue']['nodes'][number] }) {
  const viewer = useViewer()
  return (
    <div className="grid gap-4 p-4 md:p-5">
      <div><StateBadge state={entry.state} running={entry.running} /></div>
      <Words text={entry.diagnostic} />
      <DetailList>
        <Detail name="To">{entry.address}</Detail>
        <Detail name="Email"><Link to={`/emails/${entry.emailId}`} className="link">{entry.emailId}</Link></Detail>
        <Detail name="Attempts">{entry.attempts}</Detail>
        <Detail name="Next attempt">{entry.nextAttemptAt && <Time at={entry.nextAttemptAt} />}</Detail>
        <Detail name="Queued since"><Time at={entry.queuedAt} exact /></Detail>
        <Detail name="Expires"><Time at={new Date(Date.parse(entry.queuedAt) + 72 * 3_600_000).toISOString()} exact /></Detail>
        <Detail name="ID"><CopyableId id={entry.id} /></Detail>
      </DetailList>
      {viewer.can('WRITE') && <div className="flex flex-wrap gap-2"><Acts target={{ selections: [{ recipients: [entry.id], all: false }], words: entry.address }} /></div>}
    </div>
  )
}
