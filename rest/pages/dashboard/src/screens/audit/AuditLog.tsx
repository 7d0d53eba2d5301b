import { ScrollText } from 'lucide-react'
import { now } from '@/api/clock'
import { usePages } from '@/api/graphql'
import { useSearchParams } from '@/app/searchParams'
import { useIsNarrow } from '@/app/viewport'
import { useViewer } from '@/app/viewer'
import { useColumns } from '@/parts/ColumnMenu'
import { DataTable } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { ExportButton } from '@/parts/ExportButton'
import { FilterBar, setTerm } from '@/parts/FilterBar'
import { filterError } from '@/parts/filterTerms'
import { PageHead } from '@/parts/Page'
import { Sheet, SplitView, adjacentRows } from '@/parts/Sheet'
import { Time } from '@/parts/Time'
import { Entry, type Row } from './Entry'
import { AuditEntries } from './queries.gen'
import { actionWords, kinds, nameOfTarget } from './words'

const daysAgo = (days: number) => new Date(now() - days * 86_400_000).toISOString().slice(0, 10)

const choices = [
  { field: 'action', label: 'Any action', values: [['session', 'Sign-ins'], ['password', 'Passwords'], ['passkey', 'Passkeys'], ['member', 'Members'], ['invitation', 'Invitations'], ['account', 'Account'], ['operator', 'Operator']].map(([value = '', name = '']) => ({ value, name })) },
  { field: 'after', label: 'Any time', values: [{ value: daysAgo(0), name: 'Today' }, { value: daysAgo(7), name: 'Last 7 days' }, { value: daysAgo(30), name: 'Last 30 days' }] },
]

const hints = ['by:ada@example.com', 'on:dom_…', 'action:member', 'after:2026-01-31', 'before:2026-12-31']

export default function AuditLog() {
  const [address, change] = useSearchParams()
  const { user } = useViewer()
  const narrow = useIsNarrow()
  const q = address.q ?? ''
  const list = usePages(AuditEntries, { filter: q ? { query: q } : null }, (d) => d.auditLog, { keepPrevious: true })
  const wrong = filterError(list.error)
  const open = (id: string | null) => change({ open: id ?? undefined }, !address.open)
  const filterBy = (field: string, value: string) => change({ q: setTerm(q, field, value), open: undefined }, true)
  const row = list.rows.find((r) => r.id === address.open)

  const { columns, menu } = useColumns<Row>([
    {
      key: 'action', head: 'Action', width: '240px', grows: true,
      cell: (r) => (
        <>
          <button type="button" className="block max-w-full truncate text-left font-medium" title={r.action} onClick={() => open(address.open === r.id ? null : r.id)}>{actionWords(r.action)}</button>
          <span className="block truncate text-xs text-ink-3 @min-[460px]:hidden">{r.actor.name || kinds[r.actor.kind].name}</span>
        </>
      ),
    },
    { key: 'actor', head: 'Actor', optional: 'Actor', from: 'slim', cell: (r) => <Actor row={r} filterBy={filterBy} /> },
    { key: 'target', head: 'Target', optional: 'Target', width: '250px', from: 'wide', cell: (r) => { const name = nameOfTarget(r.changes); return r.target && <button type="button" className="block max-w-full truncate text-left hover:underline" title={[name, r.target, 'Filter by this object'].filter(Boolean).join('\n')} onClick={() => filterBy('on', r.target)}>{name && <bdi className="mr-2">{name}</bdi>}<code className="text-ink-3">{r.target}</code></button> } },
    { key: 'ip', head: 'From', optional: 'From', width: '130px', from: 'mid', cell: (r) => <span className="text-ink-3">{r.ip}</span> },
    { key: 'at', head: 'Time', width: '104px', right: true, cell: (r) => <span className="text-xs text-ink-3"><Time at={r.createdAt} /></span> },
  ])

  return (
    <>
      <PageHead title="Audit log">
        <ExportButton noun="audit log" path="/audit-log/export" filter={wrong ? undefined : { q }} />
      </PageHead>
      <SplitView
        sheet={address.open && row && (
          <Sheet label="Audit log entry" head={<h2 className="truncate">{actionWords(row.action)}</h2>} onClose={() => open(null)} {...adjacentRows(list.rows.map((r) => r.id), address.open, open)}>
            <Entry key={row.id} row={row} filterBy={filterBy} />
          </Sheet>
        )}
      >
        <FilterBar placeholder="Person, object, action or ID" choices={choices} hints={hints} error={wrong}>
          {user && <button type="button" className="btn !h-[34px]" onClick={() => filterBy('by', user.id)}>My activity</button>}
          {menu}
        </FilterBar>
        <DataTable
          label="Audit log" rows={list.rows} columns={columns} idOf={(r) => r.id} nameOf={(r) => r.action} height={narrow ? 52 : 36} open={address.open} onOpen={open}
          loading={list.isPending} error={wrong ? null : list.error} retry={() => void list.refetch()} more={list.more} hasMore={list.hasNextPage}
          empty={wrong ? null : q ? (
            <EmptyState icon={ScrollText} title="No matches" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>}>No entries match this filter. IDs of people and objects are found in all entries, and parts of names and changes in the newest 10,000.</EmptyState>
          ) : (
            <EmptyState icon={ScrollText} title="No entries yet">Sign-ins and changes to this account are recorded here.</EmptyState>
          )}
        />
      </SplitView>
    </>
  )
}

function Actor({ row, filterBy }: { row: Row; filterBy: (field: string, value: string) => void }) {
  const { name, icon: Icon } = kinds[row.actor.kind]
  return (
    <span className="flex min-w-0 items-center gap-2" title={name}>
      <Icon aria-label={name} className="!size-3.5 text-ink-3" />
      {row.actor.id ? <button type="button" className="truncate hover:underline" title="Filter by this actor" onClick={() => filterBy('by', row.actor.id)}>{row.actor.name || row.actor.id}</button> : <span className="truncate">{row.actor.name || name}</span>}
    </span>
  )
}
