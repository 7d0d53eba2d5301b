import { Link } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { CalendarClock, CalendarX, X } from 'lucide-react'
import { useState } from 'react'
import { now } from '@/api/clock'
import { keyOf, usePages } from '@/api/graphql'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { Time } from '@/parts/Time'
import { MoveDialog } from './MoveDialog'
import { ScheduledEmails, type ScheduledEmailsQuery } from './queries.gen'

type Row = ScheduledEmailsQuery['scheduledEmails']['nodes'][number]
type Doing = { what: 'move' | 'cancel'; ids: string[]; at?: string | null }

const emails = (n: number) => `${n.toLocaleString()} ${n === 1 ? 'email' : 'emails'}`

export function Scheduled() {
  const queries = useQueryClient()
  const [chosen, setChosen] = useState<Set<string>>(new Set())
  const [doing, setDoing] = useState<Doing | null>(null)
  const [step, setStep] = useState(0)
  const list = usePages(ScheduledEmails, {}, (d) => d.scheduledEmails)
  const rows = list.rows
  const { can } = useViewer()
  const may = can('SEND')
  const ids = rows.filter((r) => chosen.has(r.id)).map((r) => r.id)
  const columns: Column<Row>[] = [
    { key: 'to', head: 'To', cell: (r) => <Link to={`/emails/${r.id}`} className="link font-medium">{r.to[0]}{r.to.length > 1 && ` and ${r.to.length - 1} more`}</Link> },
    { key: 'subject', head: 'Subject', width: '40%', from: 'mid', cell: (r) => r.subject || <span className="text-ink-3">(no subject)</span> },
    { key: 'at', head: 'Sends at', width: '190px', cell: (r) => <Time at={r.scheduledAt} exact /> },
    { key: 'made', head: 'Accepted', width: '120px', from: 'wide', cell: (r) => <span className="text-ink-3"><Time at={r.createdAt} /></span> },
    ...(may ? [{ key: 'acts', head: <span className="sr-only">Actions</span>, width: '184px', right: true, from: 'slim' as const, cell: (r: Row) => (
      <span className="inline-flex gap-1">
        <button type="button" className="btn sm" aria-label={`Reschedule ${r.subject}`} onClick={() => setDoing({ what: 'move', ids: [r.id], at: r.scheduledAt })}>Reschedule</button>
        <button type="button" className="btn sm" aria-label={`Cancel ${r.subject}`} onClick={() => setDoing({ what: 'cancel', ids: [r.id] })}>Cancel</button>
      </span>
    ) }] : []),
  ]
  const over = () => { setChosen(new Set()); void queries.invalidateQueries({ queryKey: keyOf(ScheduledEmails) }) }

  // each applies an action to every email. Earlier changes are kept if one fails.
  async function each(all: string[], body: { cancel: true } | { scheduled_at: string }) {
    setStep(0)
    try {
      for (const id of all) {
        await unwrap(rest.PATCH('/emails/{id}', { params: { path: { id } }, body }))
        setStep((n) => n + 1)
      }
    } finally {
      over()
    }
  }
  return (
    <>
      <DataTable
        label="Scheduled emails" rows={rows} columns={columns} idOf={(r) => r.id} nameOf={(r) => r.subject} selected={may ? chosen : undefined} onSelect={may ? setChosen : undefined}
        loading={list.isPending} error={list.error} retry={() => void list.refetch()} more={list.more} hasMore={list.hasNextPage}
        empty={<EmptyState icon={CalendarClock} title="No scheduled emails" command={{ email: { scheduled_at: tomorrow() } }}>To schedule an email, set scheduled_at:</EmptyState>}
      />
      {ids.length > 0 && (
        <div role="toolbar" aria-label="Selection actions" className="flex flex-none flex-wrap items-center gap-2 border-t border-line bg-raised px-4 py-2 md:px-6">
          <span role="status" className="font-medium">{emails(ids.length)}</span>
          <button type="button" className="btn quiet sm" onClick={() => setChosen(new Set())}><X aria-hidden />Clear</button>
          <div className="ml-auto flex gap-2">
            <button type="button" className="btn sm" onClick={() => setDoing({ what: 'move', ids })}><CalendarClock aria-hidden />Reschedule</button>
            <button type="button" className="btn sm !text-bad" onClick={() => setDoing({ what: 'cancel', ids })}><CalendarX aria-hidden />Cancel emails</button>
          </div>
        </div>
      )}
      {doing?.what === 'move' && <MoveDialog title={doing.ids.length === 1 ? 'Reschedule email' : `Reschedule ${emails(doing.ids.length)}`} at={doing.at} step={doing.ids.length > 1 ? `${step} of ${doing.ids.length}` : ''} onClose={() => setDoing(null)} move={async (at) => { await each(doing.ids, { scheduled_at: at }); toast.success(`${emails(doing.ids.length)} rescheduled`) }} />}
      {doing?.what === 'cancel' && (
        <ConfirmDialog title={`Cancel ${doing.ids.length === 1 ? 'this email' : emails(doing.ids.length)}?`} label={doing.ids.length === 1 ? 'Cancel email' : `Cancel ${emails(doing.ids.length)}`} danger onClose={() => setDoing(null)} run={async () => { await each(doing.ids, { cancel: true }); toast.success(`${emails(doing.ids.length)} cancelled`) }}>
          Cancelled emails are never sent and can’t be scheduled again.
          {step > 0 && doing.ids.length > 1 && <p role="status">{step} of {doing.ids.length}</p>}
        </ConfirmDialog>
      )}
    </>
  )
}

const tomorrow = () => new Date(now() + 86_400_000).toISOString().replace(/:\d\d\.\d+Z/, ':00Z')
