import { Link } from '@tanstack/react-router'
import { Radio } from 'lucide-react'
import { useState } from 'react'
import { useLive, type LiveEvent } from '@/api/live'
import { Badge } from '@/parts/Badge'
import { Card } from '@/parts/Page'
import { Time } from '@/parts/Time'
import { lookOfEvent } from '../emails/status'

interface EventData {
  email_id?: string
  subject?: string
  recipient?: string
  to?: string[]
  bounce?: { diagnostic?: string }
  delay?: { diagnostic?: string }
}

// Happening shows live events since the page was opened.
export function Happening() {
  const [events, setEvents] = useState<LiveEvent[]>([])
  useLive(['email.'], (e) => setEvents((old) => [e, ...old].slice(0, 12)))
  if (events.length === 0) return null
  return (
    <Card title="Live activity" padded={false} actions={<span className="inline-flex items-center gap-1.5 text-xs text-ink-3"><Radio aria-hidden className="!size-3.5 text-ok" />live</span>}>
      <ul aria-live="polite" aria-relevant="additions">
        {events.map((e) => {
          const look = lookOfEvent(e.type)
          const data = e.data as EventData
          return (
            <li key={e.id} className="border-t border-line-soft first:border-t-0">
              <Link to={`/emails/${data.email_id ?? ''}`} className={line}>
                <span className="w-[104px] flex-none"><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge></span>
                <span className="min-w-0 flex-1 truncate"><b className="font-medium">{data.recipient ?? data.to?.[0]}</b> <span className="text-ink-2">{data.bounce?.diagnostic ?? data.delay?.diagnostic ?? data.subject}</span></span>
                <span className="flex-none text-xs text-ink-3"><Time at={e.createdAt} seconds /></span>
              </Link>
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

const line = 'flex min-h-11 items-center gap-3 px-4 py-1.5 hover:bg-hover'

// FirstEmail waits for the first email of the account and shows it in the same place, with its latest status.
export function FirstEmail({ email }: { email: { id: string; to: string[] } | undefined }) {
  const [last, setLast] = useState<LiveEvent>()
  useLive(['email.'], (e) => setLast((old) => (old && (old.data as EventData).email_id !== (e.data as EventData).email_id ? old : e)))
  const data = last?.data as EventData | undefined
  const id = data?.email_id ?? email?.id
  const look = last ? lookOfEvent(last.type) : undefined
  return (
    <div aria-live="polite" className="border-t border-line-soft bg-sunken">
      {id ? (
        <Link to={`/emails/${id}`} className={line}>
          {look && <span className="flex-none"><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge></span>}
          <span className="min-w-0 flex-1 truncate"><b className="font-medium">{data?.recipient ?? data?.to?.[0] ?? email?.to[0]}</b> <span className="text-ink-2">{data?.bounce?.diagnostic ?? data?.delay?.diagnostic ?? data?.subject}</span></span>
          <span className="flex-none text-xs text-accent">View email</span>
        </Link>
      ) : (
        <p className="flex min-h-11 items-center gap-3 px-4 py-1.5 text-ink-2"><span aria-hidden className="size-2 animate-breathe rounded-full bg-accent" />Waiting for your first email.</p>
      )}
    </div>
  )
}
