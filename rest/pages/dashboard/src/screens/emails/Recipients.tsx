import { AddressLink } from '@/parts/AddressLink'
import { Badge } from '@/parts/Badge'
import { CopyButton } from '@/parts/CopyButton'
import { formatDuration, Time } from '@/parts/Time'
import type { Email } from './EmailView'
import { lookOfStatus } from './status'

// Recipients lists the addresses, each with its state and the latest reply.
export function Recipients({ email }: { email: Email }) {
  return (
    <ul className="grid gap-4">
      {email.recipients.map((r) => {
        const look = lookOfStatus(r.state)
        return (
          <li key={`${r.kind} ${r.address}`}>
            <div className="flex flex-wrap items-center gap-2">
              <Badge tone={look.tone} icon={look.icon}>{r.held ? 'Held' : look.word}</Badge>
              <AddressLink address={r.address} className="link min-w-0 font-medium wrap-anywhere" /><CopyButton text={r.address} label={`Copy ${r.address}`} />
              <span className="ml-auto text-xs text-ink-3">{r.kind.toLowerCase()} · {r.attempts} {r.attempts === 1 ? 'attempt' : 'attempts'}{r.remoteMta && ` · ${r.remoteMta}`}</span>
            </div>
            {r.diagnostic && <p className={`smtp ${look.tone}`}>{r.diagnostic}</p>}
            {r.nextAttemptAt && <p className="mt-1 text-xs text-ink-2">Next attempt <Time at={r.nextAttemptAt} /></p>}
          </li>
        )
      })}
    </ul>
  )
}

const outcomes: Record<string, string> = { UNKNOWN: 'No response', NOT_STARTED: 'Interrupted' }

// Attempts lists the delivery attempts, newest first.
export function Attempts({ email }: { email: Email }) {
  if (email.attempts.length === 0) return <p className="text-ink-3">No delivery attempts yet.</p>
  return (
    <ol className="grid gap-4">
      {[...email.attempts].reverse().map((a) => {
        const look = lookOfStatus(a.outcome ?? 'SENT')
        const facts = [
          a.remoteHost && (a.remoteAddr && a.remoteAddr !== a.remoteHost ? `${a.remoteHost} (${a.remoteAddr})` : a.remoteHost), a.tls ? `${a.tls}${a.tlsPolicy ? `, ${a.tlsPolicy}` : ''}` : a.remoteHost ? 'no TLS' : null,
          a.way ?? (a.localAddr && `from ${a.localAddr}`), a.phase && `ended at ${a.phase}`, a.class && a.class.replaceAll('_', ' '), a.finishedAt && formatDuration(Date.parse(a.finishedAt) - Date.parse(a.startedAt)),
        ]
        return (
          <li key={`${a.recipient} ${a.number}`}>
            <div className="flex flex-wrap items-center gap-2">
              <Badge tone={look.tone} icon={look.icon}>{a.outcome ? (outcomes[a.outcome] ?? look.word) : 'Running'}</Badge>
              <span className="min-w-0 font-medium wrap-anywhere">{a.recipient}</span>
              <span className="ml-auto text-xs text-ink-3">attempt {a.number} · <Time at={a.startedAt} seconds /></span>
            </div>
            <p className="mt-1 text-xs text-ink-2">{facts.filter(Boolean).join(' · ')}</p>
            {a.reply && <p className={`smtp ${look.tone}`}>{a.reply}</p>}
          </li>
        )
      })}
    </ol>
  )
}
