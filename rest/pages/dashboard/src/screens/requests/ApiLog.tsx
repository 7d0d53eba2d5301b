import { Logs, RefreshCw } from 'lucide-react'
import { usePages } from '@/api/graphql'
import { useSearchParams } from '@/app/searchParams'
import { useIsNarrow } from '@/app/viewport'
import { Badge } from '@/parts/Badge'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { FilterBar, setTerm } from '@/parts/FilterBar'
import { PageHead } from '@/parts/Page'
import { Sheet, SplitView, adjacentRows } from '@/parts/Sheet'
import { SegmentedControl } from '@/parts/Tabs'
import { Time } from '@/parts/Time'
import { filterOf, type Row } from './data'
import { Errors } from './Errors'
import { lookOf } from './look'
import { RequestList } from './queries.gen'
import { Request } from './Request'

const choices = [
  { field: 'status', label: 'Any status', values: [['failed', 'Failed'], ['2xx', '2xx'], ['4xx', '4xx'], ['5xx', '5xx']].map(([value = '', name = '']) => ({ value, name })) },
  { field: 'method', label: 'Any method', values: ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].map((value) => ({ value, name: value })) },
]

// Two requests can have the same id, because the caller can choose it.
const keyOf = (r: Row) => `${r.id} ${r.createdAt}`

export default function ApiLog() {
  const [address, change] = useSearchParams()
  const narrow = useIsNarrow()
  const q = address.q ?? ''
  const { filter, wrong } = filterOf(q)
  const list = usePages(RequestList, { first: 50, filter }, (d) => d.apiRequests, { enabled: !wrong })
  const open = (key: string | null) => change({ open: key ?? undefined }, !address.open)
  const filterBy = (field: string, value: string) => change({ q: setTerm(q, field, value), open: undefined }, true)
  const errors = address.view === 'errors'
  const row = list.rows.find((r) => keyOf(r) === address.open)

  const columns: Column<Row>[] = [
    { key: 'status', head: 'Status', width: '92px', cell: (r) => <button type="button" title="Filter by this status" onClick={() => filterBy('status', String(r.status))}><Badge {...lookOf(r.status)}>{r.status}</Badge></button> },
    {
      key: 'path', head: 'Request', grows: true,
      cell: (r) => (
        <button type="button" className="block max-w-full truncate text-left" title={r.path} onClick={() => open(address.open === keyOf(r) ? null : keyOf(r))}><code className="text-ink-3">{r.method}</code> <code>{r.path}</code></button>
      ),
    },
    { key: 'who', head: 'Actor', width: '250px', from: 'wide', cell: (r) => <span className="block truncate text-ink-2" title={r.apiKeyId ?? r.userId ?? undefined}>{r.apiKey?.name ?? <code className="text-ink-3">{r.apiKeyId ?? r.userId}</code>}</span> },
    { key: 'took', head: 'Duration', width: '84px', right: true, from: 'mid', cell: (r) => <span className="text-ink-2">{r.durationMs} ms</span> },
    { key: 'at', head: 'Time', width: '104px', right: true, cell: (r) => <span className="text-xs text-ink-3"><Time at={r.createdAt} /></span> },
  ]

  return (
    <>
      <PageHead title="API log"><button type="button" className="btn" onClick={() => void list.refetch()}><RefreshCw aria-hidden />Refresh</button></PageHead>
      <SplitView
        sheet={address.open && row && (
          <Sheet label="Request" head={<h2 className="truncate">{row.method} {row.path}</h2>} onClose={() => open(null)} {...adjacentRows(list.rows.map(keyOf), address.open, open)}>
            <Request key={keyOf(row)} row={row} filterBy={filterBy} />
          </Sheet>
        )}
      >
        <FilterBar placeholder="Path, or method: status: key: email: request:" choices={choices} error={wrong} />
        <div className="flex flex-none items-center border-b border-line px-4 py-2 md:px-6"><SegmentedControl label="View" value={errors ? 'errors' : 'all'} onChange={(key) => change({ view: key === 'errors' ? key : undefined, open: undefined })} choices={[{ key: 'all', name: 'All requests' }, { key: 'errors', name: 'Grouped errors' }]} /></div>
        {errors ? <Errors filter={filter} enabled={!wrong} show={(t) => change({ view: undefined, q: `status:${t.status} method:${t.method} path:${t.last.path.replace(/\b[a-z]{2,4}_01\w{24}.*/, '')}`, open: keyOf(t.last) })} /> : <DataTable
          label="API log" rows={wrong ? [] : list.rows} columns={columns} idOf={keyOf} nameOf={(r) => `${r.method} ${r.path}`} height={narrow ? 44 : 36} open={address.open} onOpen={open}
          loading={list.isPending && !wrong} error={wrong ? null : list.error} retry={() => void list.refetch()} more={list.more} hasMore={list.hasNextPage}
          empty={wrong ? null : q ? (
            <EmptyState icon={Logs} title="No matches" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>}>Requests are kept for seven days.</EmptyState>
          ) : (
            <EmptyState icon={Logs} title="No requests yet" command={{ request: { path: '/account' }, scope: 'read' }}>Requests from your apps appear here for seven days, with their responses.</EmptyState>
          )}
        />}
      </SplitView>
    </>
  )
}
