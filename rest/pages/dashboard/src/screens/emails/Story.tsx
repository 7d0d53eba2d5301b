import { formatDuration, Time } from '@/parts/Time'
import { TimelineEntry, Timeline } from '@/parts/Timeline'
import type { Email } from './EmailView'
import type { EmailEngagementQuery } from './queries.gen'
import { lookOfEvent } from './status'
import { SuppressedNotice, useSuppressed } from './Suppressed'

type Entry = Email['timeline'][number]
type Engagement = NonNullable<EmailEngagementQuery['email']>['engagements'][number]

// attemptOf finds the attempt of an entry: by its number, or the one that delivered.
function attemptOf(email: Email, entry: Entry) {
  const tries = email.attempts.filter((a) => a.recipient === entry.recipient)
  if (entry.attempt !== null) return tries.find((a) => a.number === entry.attempt)
  return entry.type === 'email.delivered' ? tries.find((a) => a.outcome === 'DELIVERED') : undefined
}

const text = (data: unknown, ...path: string[]): string | undefined => {
  let at: unknown = data
  for (const key of path) at = (at as Record<string, unknown> | null | undefined)?.[key]
  return typeof at === 'string' ? at : undefined
}

// Story lists the events of an email, newest first, with the replies of the receiving servers.
export function Story({ email, engagements }: { email: Email; engagements: Engagement[] }) {
  const last = email.timeline.at(-1)
  const waiting = email.recipients.filter((r) => r.nextAttemptAt || r.held)
  const suppressed = useSuppressed(email).list
  return (
    <>
      {suppressed.length > 0 && <div className="mb-4"><SuppressedNotice list={suppressed} /></div>}
      {waiting.length > 0 && (
        <ul className="mb-4 grid gap-1 rounded-control bg-warn-soft px-3 py-2 text-xs text-warn">
          {waiting.map((r) => <li key={r.address}>{r.held ? <>Held by the operator: {r.address}</> : <>Next attempt for {r.address} <Time at={r.nextAttemptAt} /></>}</li>)}
        </ul>
      )}
      <Timeline>
        {[...email.timeline].reverse().map((entry) => <Entry key={entry.id} email={email} entry={entry} engagements={engagements} />)}
      </Timeline>
      {!last && <p className="text-ink-3">No activity yet.</p>}
    </>
  )
}

function Entry({ email, entry, engagements }: { email: Email; entry: Entry; engagements: Engagement[] }) {
  const look = lookOfEvent(entry.type)
  const attempt = attemptOf(email, entry)
  const engaged = entry.type === 'email.opened' || entry.type === 'email.clicked'
    ? engagements.find((g) => (entry.type === 'email.opened') === (g.kind === 'OPEN') && Math.abs(Date.parse(g.at) - Date.parse(entry.at)) < 1000)
    : undefined
  const server = attempt?.remoteHost ?? text(entry.data, 'bounce', 'remote_mta') ?? text(entry.data, 'delay', 'remote_mta')
  const small: (string | undefined)[] = [
    bounceKind(entry), server, attempt?.tls ? attempt.tls : attempt?.remoteHost ? 'no TLS' : undefined, attempt && attempt.number > 1 ? `attempt ${attempt.number}` : undefined,
    entry.type === 'email.delivered' && email.sentAt ? `delivered in ${formatDuration(Date.parse(entry.at) - Date.parse(email.sentAt))}` : undefined,
    text(entry.data, 'complaint', 'type') && `Feedback type ${text(entry.data, 'complaint', 'type')}, from ${text(entry.data, 'complaint', 'reporter') ?? 'the receiver'}`,
    engaged?.userAgent ?? undefined, engaged?.machine ? 'automated' : undefined,
  ]
  const url = engaged?.url ?? text(entry.data, 'click', 'url')
  const words = entry.type === 'email.delivered' ? attempt?.reply : (attempt?.reply ?? entry.detail)
  return (
    <TimelineEntry
      icon={look.icon} tone={look.tone} title={look.word} at={entry.at} reply={words}
      subject={entry.recipient ?? (entry.type === 'email.sent' ? `for ${email.recipients.length} ${email.recipients.length === 1 ? 'recipient' : 'recipients'}` : entry.type === 'email.scheduled' ? <>for <Time at={text(entry.data, 'scheduled_at') ?? email.scheduledAt} exact /></> : null)}
      details={
        <>
          {small.filter(Boolean).join(' · ')}
          {engaged?.machine && <span className="chip ml-1" title={engaged.machine}>automated</span>}
          {url && <code className="block wrap-anywhere">{url}</code>}
          {entry.nextAttemptAt && <> · next attempt <Time at={entry.nextAttemptAt} /></>}
        </>
      }
    />
  )
}

function bounceKind(entry: Entry): string | undefined {
  const kind = text(entry.data, 'bounce', 'type')
  if (!kind) return undefined
  const code = text(entry.data, 'bounce', 'enhanced_code')
  return `${kind === 'permanent' ? 'Permanent' : 'Temporary'}${code ? ` (${code})` : ''}`
}
