import { Link } from '@tanstack/react-router'
import { CircleCheck, X } from 'lucide-react'
import { useState } from 'react'
import { usePages } from '@/api/graphql'
import { useSearchParams } from '@/app/searchParams'
import { useViewer } from '@/app/viewer'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { Sheet, SplitView, adjacentRows } from '@/parts/Sheet'
import { Time } from '@/parts/Time'
import { people } from './actions'
import { Acts, BulkBar } from './BulkBar'
import { QueueRecipients, type QueueFilter, type QueueRecipientsQuery, type QueueState } from './queries.gen'
import { RecipientFacts } from './Sheets'
import { StateBadge, stateNames } from './state'

type Row = QueueRecipientsQuery['queue']['nodes'][number]

const columns: Column<Row>[] = [
  { key: 'address', head: 'To', width: '26%', cell: (r) => <Link to={`/emails/${r.emailId}`} className="link font-medium">{r.address}</Link> },
  { key: 'state', head: 'Status', width: '140px', cell: (r) => <StateBadge state={r.state} running={r.running} /> },
  { key: 'attempts', head: 'Attempts', width: '84px', right: true, from: 'mid', cell: (r) => r.attempts },
  { key: 'next', head: 'Next attempt', width: '110px', from: 'slim', cell: (r) => r.nextAttemptAt ? <Time at={r.nextAttemptAt} /> : <span className="text-ink-3">—</span> },
  { key: 'since', head: 'Queued since', width: '120px', from: 'wide', cell: (r) => <span className="text-ink-3"><Time at={r.queuedAt} /></span> },
  { key: 'reason', head: 'Last response', from: 'mid', cell: (r) => <span title={r.diagnostic ?? undefined} className="font-mono text-xs text-ink-2">{r.diagnostic}</span> },
]

export function Recipients() {
  const [address, change] = useSearchParams()
  const viewer = useViewer()
  const [chosen, setChosen] = useState<Set<string>>(new Set())
  const state = stateNames.find((s) => s.value === address.state)?.value
  const filter: QueueFilter = { ...(address.destination ? { destination: address.destination } : {}), ...(address.email ? { email: address.email } : {}), ...(state ? { state } : {}) }
  const filtered = Object.keys(filter).length > 0
  const list = usePages(QueueRecipients, { filter: filtered ? filter : null }, (d) => d.queue, { keepPrevious: true })
  const may = viewer.can('WRITE')
  const ids = list.rows.filter((r) => chosen.has(r.id)).map((r) => r.id)
  const opened = list.rows.find((r) => r.id === address.open)
  const open = (id: string | null) => change({ open: id ?? undefined })
  const go = (values: Record<string, string | undefined>) => { setChosen(new Set()); change({ ...values, open: undefined }) }
  return (
    <>
      <div className="flex flex-none flex-wrap items-center gap-2 border-b border-line px-4 py-3 md:px-6">
        <input
          data-filter key={address.destination} type="search" aria-label="Destination" placeholder="Destination, such as example.com" defaultValue={address.destination ?? ''} spellCheck={false} className="input max-w-[320px] min-w-0 flex-[1_1_180px]"
          onKeyDown={(e) => { if (e.key === 'Enter') go({ destination: e.currentTarget.value.trim().toLowerCase() }) }} onBlur={(e) => { if (e.target.value.trim().toLowerCase() !== (address.destination ?? '')) go({ destination: e.target.value.trim().toLowerCase() }) }}
        />
        <select aria-label="Status" value={state ?? ''} onChange={(e) => go({ state: e.target.value as QueueState | '' })} className="h-[34px] rounded-control border border-line bg-raised px-2 text-ink-2 hover:bg-hover">
          <option value="">Any status</option>
          {stateNames.map((s) => <option key={s.value} value={s.value}>{s.name}</option>)}
        </select>
        {address.email && <button type="button" className="chip" onClick={() => go({ email: undefined })}>email <b>{address.email}</b><X aria-label="Remove" className="!size-3" /></button>}
        {may && address.destination && chosen.size === 0 && list.rows.length > 0 && !state && (
          <div className="ml-auto flex flex-wrap gap-2"><Acts target={{ selections: [{ destination: address.destination, ...(address.email ? { email: address.email } : {}), all: false }], words: `all at ${address.destination}` }} /></div>
        )}
      </div>
      <SplitView sheet={opened && <Sheet label={opened.address} head={<h2 className="truncate">{opened.address}</h2>} page={`/emails/${opened.emailId}`} onClose={() => open(null)} {...adjacentRows(list.rows.map((r) => r.id), address.open, open)}><RecipientFacts entry={opened} /></Sheet>}>
        <DataTable
          label="Queued recipients" rows={list.rows} columns={columns} idOf={(r) => r.id} nameOf={(r) => r.address} open={address.open} onOpen={open} selected={may ? chosen : undefined} onSelect={may ? setChosen : undefined}
          loading={list.isPending} error={list.error} retry={() => void list.refetch()} more={list.more} hasMore={list.hasNextPage}
          empty={<EmptyState icon={CircleCheck} title={filtered ? 'No queued recipients match' : 'The queue is empty'} action={filtered ? <button type="button" className="btn" onClick={() => go({ destination: undefined, state: undefined, email: undefined })}>Clear filter</button> : <Link to="/emails" className="btn">View sent emails</Link>}>{filtered ? 'No recipient in the queue matches this filter.' : 'All emails have been delivered or have failed.'}</EmptyState>}
        />
      </SplitView>
      {ids.length > 0 && <BulkBar words={people(ids.length)} clear={() => setChosen(new Set())} target={{ selections: chunks(ids, 1000).map((recipients) => ({ recipients, all: false })), words: people(ids.length) }} />}
    </>
  )
}

const chunks = (ids: string[], size: number) => Array.from({ length: Math.ceil(ids.length / size) }, (_, i) => ids.slice(i * size, (i + 1) * size))
