import { Link } from '@tanstack/react-router'
import { Plus, Zap } from 'lucide-react'
import { useGraphQL, usePages } from '@/api/graphql'
import { useSearchParams } from '@/app/searchParams'
import { useIsNarrow } from '@/app/viewport'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { useColumns } from '@/parts/ColumnMenu'
import { DataTable, NewRowsNotice, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { ExportButton } from '@/parts/ExportButton'
import { FilterBar } from '@/parts/FilterBar'
import { filterError } from '@/parts/filterTerms'
import { PageHead } from '@/parts/Page'
import { adjacentRows, Sheet, SplitView } from '@/parts/Sheet'
import { Time } from '@/parts/Time'
import { CustomEventHead, CustomEvents, type CustomEventsQuery } from './events.gen'
import { EventView } from './EventView'
import { summary } from './outcomes'
import { SendEvent } from './SendEvent'

type Row = CustomEventsQuery['customEvents']['nodes'][number]

const allColumns: Column<Row>[] = [
  { key: 'name', head: 'Name', cell: (e) => <><Link to="." search={((old: object) => ({ ...old, open: e.id })) as never} className="block truncate font-mono text-xs font-medium hover:underline">{e.name}</Link><span className="block truncate text-xs text-ink-3 @min-[460px]:hidden">{summary(e.matches).word} · {e.email ?? e.userId ?? 'no user'}</span></> },
  { key: 'who', head: 'User', optional: 'User', width: '28%', from: 'slim', cell: (e) => <span className="text-ink-2" title={[e.email, e.userId].filter(Boolean).join(', ')}>{e.email ?? e.userId ?? 'no user'}</span> },
  { key: 'what', head: 'Result', optional: 'Result', width: '196px', from: 'slim', cell: (e) => { const look = summary(e.matches); return <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge> } },
  { key: 'source', head: 'Source', optional: 'Source', width: '100px', from: 'wide', cell: (e) => <span className="text-ink-2">{{ API: 'API', DASHBOARD: 'Dashboard', SYSTEM: 'System' }[e.source]}</span> },
  { key: 'at', head: 'Received', width: '104px', right: true, cell: (e) => <span className="text-ink-2"><Time at={e.createdAt} /></span> },
]

const choices = [{ field: 'source', label: 'Any source', values: [{ value: 'api', name: 'API' }, { value: 'dashboard', name: 'Dashboard' }, { value: 'system', name: 'System' }] }]
const hints = ['name:user.created', 'user:user-17', 'email:bob@example.net', 'after:2026-01-31', 'before:2026-12-31']

// Events lists custom events, newest first.
export default function Events() {
  const { can } = useViewer()
  const narrow = useIsNarrow()
  const [address, change] = useSearchParams()
  const { columns, menu } = useColumns(allColumns)
  const q = address.q ?? ''
  const filter = { query: q || null }
  const list = usePages(CustomEvents, { filter }, (d) => d.customEvents, { keepPrevious: true })
  const wrong = filterError(list.error)
  // The newest ids are polled, because events are not in the event stream; new events are announced above the list.
  const head = useGraphQL(CustomEventHead, { filter }, { refetchInterval: 1000, enabled: !list.isLoading && !list.error })
  const known = new Set(list.rows.map((e) => e.id))
  const newest = list.rows[0]?.createdAt ?? ''
  const fresh = list.data && !list.isFetching ? (head.data?.customEvents.nodes.filter((e) => !known.has(e.id) && e.createdAt >= newest).length ?? 0) : 0
  const open = address.open
  const go = (id: string | null) => change({ open: id ?? undefined }, !open)
  const send = () => change({ send: '1' })
  const row = list.rows.find((e) => e.id === open)
  return (
    <>
      <PageHead title="Events">
        {can('READ') && <ExportButton noun="events" path="/events/export" filter={wrong ? undefined : { q }} />}
        {can('SEND') && <button type="button" className="btn primary" onClick={send}><Plus aria-hidden />Send an event</button>}
      </PageHead>
      <SplitView sheet={open && (
        <Sheet label="Event" head={<code className="block truncate font-medium">{row?.name ?? 'Event'}</code>} page={`/events/${open}`} onClose={() => go(null)} {...adjacentRows(list.rows.map((e) => e.id), open, go)}>
          <div className="p-4 md:p-5"><EventView key={open} id={open} /></div>
        </Sheet>
      )}>
        <FilterBar placeholder="Event name, user, address or ID" error={wrong} hints={hints} choices={choices}>{menu}</FilterBar>
        <DataTable
          label="Events" height={narrow ? 52 : undefined} rows={list.rows} columns={columns} idOf={(e) => e.id} nameOf={(e) => e.name} open={open} onOpen={go} loading={list.isLoading} error={wrong ? null : list.error} retry={() => void list.refetch()}
          more={list.more} hasMore={list.hasNextPage} above={<NewRowsNotice count={fresh} show={() => void list.refetch()} />}
          empty={wrong ? null : q ? (
            <EmptyState icon={Zap} title="No matches" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>}>Search finds full names, users and addresses in all events, and parts of them in the newest 10,000.</EmptyState>
          ) : (
            <EmptyState icon={Zap} title="No events yet" action={can('SEND') && <button type="button" className="btn" onClick={send}>Send an event</button>}
              command={{ request: { path: '/events', body: { name: 'user.created', user_id: 'user-17', email: 'bob@example.net', data: { name: 'Bob' } } }, scope: 'sending' }}
            >
              Your app sends events, and automations react to them.
            </EmptyState>
          )}
        />
      </SplitView>
      {address.send && can('SEND') && <SendEvent onClose={() => change({ send: undefined })} />}
    </>
  )
}
