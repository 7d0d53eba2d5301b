import { Link } from '@tanstack/react-router'
import { CircleCheck } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { useGraphQL } from '@/api/graphql'
import { useSearchParams } from '@/app/searchParams'
import { useViewer } from '@/app/viewer'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { Sheet, SplitView, adjacentRows } from '@/parts/Sheet'
import { formatDuration } from '@/parts/Time'
import { people } from './actions'
import { Acts, BulkBar } from './BulkBar'
import { QueueBacklogs, type QueueBacklogsQuery } from './queries.gen'
import { DestinationFacts } from './Sheets'
import { States } from './state'

type Row = QueueBacklogsQuery['queueByDestination'][number]

const columns: Column<Row>[] = [
  { key: 'destination', head: 'Destination', width: '24%', cell: (r) => <Link to="/queue" search={{ tab: 'recipients', destination: r.destination } as never} className="link font-medium">{r.destination}</Link> },
  { key: 'total', head: 'Queued', width: '80px', right: true, cell: (r) => r.total.toLocaleString() },
  { key: 'oldest', head: 'Oldest', width: '96px', right: true, cell: (r) => <span title={`${r.oldestAgeSeconds.toLocaleString()} seconds`}>{formatDuration(r.oldestAgeSeconds * 1000)}</span> },
  { key: 'states', head: 'Status', width: '240px', from: 'mid', cell: (r) => <States {...r} /> },
  { key: 'reason', head: 'Reason', from: 'slim', cell: (r) => <span title={r.diagnostic ?? undefined} className="font-mono text-xs text-ink-2">{r.diagnostic ?? <span className="font-sans text-ink-3">not attempted yet</span>}</span> },
]

const count = (rows: Row[], key: 'total' | 'due' | 'running' | 'parked' | 'deferred' | 'held') => rows.reduce((n, r) => n + r[key], 0)

export function Destinations() {
  const viewer = useViewer()
  const [address, change] = useSearchParams()
  const [chosen, setChosen] = useState<Set<string>>(new Set())
  const backlog = useGraphQL(QueueBacklogs, {}, { refetchInterval: 10_000 })
  const rows = useStable(backlog.data?.queueByDestination)
  const may = viewer.can('WRITE')
  const list = rows.filter((r) => chosen.has(r.destination)).map((r) => r.destination)
  const domain = viewer.development?.domain
  const opened = rows.find((r) => r.destination === address.open)
  const open = (id: string | null) => change({ open: id ?? undefined })
  return (
    <>
      <SplitView sheet={opened && <Sheet label={opened.destination} head={<h2 className="truncate">{opened.destination}</h2>} onClose={() => open(null)} {...adjacentRows(rows.map((r) => r.destination), address.open, open)}><DestinationFacts backlog={opened} /></Sheet>}>
        <DataTable
          label="Queue by destination" rows={rows} columns={columns} idOf={(r) => r.destination} nameOf={(r) => r.destination} open={address.open} onOpen={open} selected={may ? chosen : undefined} onSelect={may ? setChosen : undefined}
          loading={backlog.isPending} error={backlog.error} retry={() => void backlog.refetch()}
          above={rows.length > 0 && (
            <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 md:px-6">
              <p className="flex flex-wrap items-center gap-x-3 gap-y-1"><b className="font-semibold">{people(count(rows, 'total'))} queued</b><States due={count(rows, 'due')} running={count(rows, 'running')} parked={count(rows, 'parked')} deferred={count(rows, 'deferred')} held={count(rows, 'held')} wrap /></p>
              {may && chosen.size === 0 && <div className="ml-auto flex flex-wrap gap-2"><Acts target={{ selections: [{ all: true }], words: 'everything in the queue' }} /></div>}
            </div>
          )}
          empty={
            <EmptyState
              icon={CircleCheck} title="The queue is empty"
              command={domain ? { email: { to: [`delay@${domain}`] } } : undefined}
              action={<Link to="/queue" search={{ tab: 'scheduled' } as never} className="btn">View scheduled emails</Link>}
            >All emails have been delivered or have failed.{domain && ' To queue a message that is delayed:'}</EmptyState>
          }
        />
      </SplitView>
      {list.length > 0 && <BulkBar words={`${list.length} ${list.length === 1 ? 'destination' : 'destinations'}`} clear={() => setChosen(new Set())} target={{ selections: list.map((destination) => ({ destination, all: false })), words: list.length === 1 ? (list[0] ?? '') : `${list.length} destinations` }} />}
    </>
  )
}

// useStable keeps the order of rows while their figures change; new rows are appended.
function useStable(rows: Row[] | undefined): Row[] {
  const order = useRef<string[]>([])
  return useMemo(() => {
    if (!rows) return []
    const place = new Map(order.current.map((d, i) => [d, i]))
    const sorted = [...rows].sort((a, b) => (place.get(a.destination) ?? Infinity) - (place.get(b.destination) ?? Infinity) || b.total - a.total)
    order.current = sorted.map((r) => r.destination)
    return sorted
  }, [rows])
}
