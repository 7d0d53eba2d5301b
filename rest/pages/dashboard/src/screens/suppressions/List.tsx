import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Ban, Plus, Trash2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import { usePages } from '@/api/graphql'
import { useLive } from '@/api/live'
import { unwrap, rest } from '@/api/rest'
import { useSearchParams } from '@/app/searchParams'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { BulkBar, type BulkAction } from '@/parts/BulkBar'
import { DataTable, NewRowsNotice, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { fetchAll } from '@/parts/fetchAll'
import { FilterBar } from '@/parts/FilterBar'
import { filterError } from '@/parts/filterTerms'
import { CopyableId } from '@/parts/CopyButton'
import { adjacentRows, Sheet, SplitView } from '@/parts/Sheet'
import { Time } from '@/parts/Time'
import { erased, reasons } from './look'
import { SuppressionList, type SuppressionReason, type SuppressionRowFragment } from './queries.gen'
import { SuppressionView } from './View'

type Row = SuppressionRowFragment

const remove: BulkAction = {
  name: 'Remove', icon: Trash2, danger: true, description: 'Emails can be sent to these addresses again. Only email people who complained or unsubscribed if they asked for it.',
  run: (id) => unwrap(rest.DELETE('/suppressions/{id}', { params: { path: { id } } })),
}

const choices = [{ field: 'reason', label: 'Any reason', values: (Object.keys(reasons) as SuppressionReason[]).map((r) => ({ value: r.toLowerCase(), name: reasons[r].word })) }]

const hints = ['email:bob@example.net', 'after:2026-01-31', 'before:2026-12-31']

const columns: Column<Row>[] = [
  { key: 'reason', head: 'Reason', width: '132px', cell: (s) => { const look = reasons[s.reason]; return <span title={look.means}><Badge tone={look.tone} icon={look.icon}>{look.word}</Badge></span> } },
  { key: 'email', head: 'Address', grows: true, cell: (s) => <Link to="." search={((old: object) => ({ ...old, open: s.id })) as never} className="block truncate font-medium" title={s.email ?? erased}>{s.email ?? <i className="text-ink-3">{erased}</i>}</Link> },
  { key: 'source', head: 'Source', width: '300px', from: 'mid', cell: (s) => (s.emailId ? <Link to={`/emails/${s.emailId}`} className="link block truncate font-mono text-xs" title="View the email that caused it">{s.emailId}</Link> : <span className="text-ink-3">No email</span>) },
  { key: 'at', head: 'Since', width: '112px', right: true, from: 'slim', cell: (s) => <span className="text-xs text-ink-3"><Time at={s.createdAt} /></span> },
]

export function List({ add }: { add?: () => void }) {
  const [address, change] = useSearchParams()
  const { can, has } = useViewer()
  const queries = useQueryClient()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [fresh, setFresh] = useState<string[]>([])
  const q = address.q ?? ''
  const filter = { q: q || null }
  const list = usePages(SuppressionList, { first: 100, ...filter }, (d) => d.suppressions, { keepPrevious: true })
  const wrong = filterError(list.error)
  // Suppressions that were added here are already in the list.
  useLive(['suppression.added'], (e) => setFresh((old) => [...new Set([...old, String((e.data as { email?: string }).email ?? e.id)])]))
  const waiting = q ? 0 : fresh.filter((email) => !list.rows.some((s) => s.email === email)).length
  const open = address.open
  const go = (id: string | null) => change({ open: id ?? undefined }, !open)
  useEffect(() => setSelected(new Set()), [q])
  const all = (signal: AbortSignal, report: (read: number) => void) =>
    fetchAll(SuppressionList, { first: 100, ...filter }, (d) => d.suppressions, signal, report).then(({ nodes, more }) => ({ items: nodes.map((s) => ({ id: s.id, name: s.email ?? erased })), more }))
  const show = () => { setFresh([]); void list.refetch() }

  const empty = q
    ? <EmptyState icon={Ban} title="No matches" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>}>No suppressions match this filter. Search finds beginnings of addresses in all suppressions, and other parts in the newest 10,000.</EmptyState>
    : <EmptyState icon={Ban} title="No suppressions yet" action={add && <button type="button" className="btn" onClick={add}><Plus aria-hidden />Suppress an address</button>}>Addresses that bounce or complain, and people who unsubscribe, are added automatically. Emails to them are not sent.</EmptyState>
  return (
    <>
      <SplitView sheet={open && <Sheet label="Suppression" head={<CopyableId id={open} />} page={`/suppressions/${open}`} onClose={() => go(null)} {...adjacentRows(list.rows.map((s) => s.id), open, go)}><SuppressionView key={open} id={open} removed={() => go(null)} /></Sheet>}>
        <FilterBar placeholder="Address or part of one" choices={choices} hints={hints} error={wrong} />
        <DataTable
          label="Suppressions" rows={list.rows} columns={has('sending') ? columns : columns.filter((c) => c.key !== 'source')} idOf={(s) => s.id} nameOf={(s) => s.email ?? erased} open={open} onOpen={go} loading={list.isPending} error={wrong ? null : list.error} retry={() => void list.refetch()}
          hasMore={list.hasNextPage} more={list.more} empty={wrong ? null : empty} above={<NewRowsNotice count={waiting} show={show} />} selected={can('WRITE') ? selected : undefined} onSelect={can('WRITE') ? setSelected : undefined}
        />
        <BulkBar
          ids={[...selected]} actions={can('WRITE') ? [remove] : []} onSelect={setSelected} noun={['suppression', 'suppressions']} nameOf={(id) => list.rows.find((s) => s.id === id)?.email ?? id}
          loadAll={list.hasNextPage || selected.size < list.rows.length ? all : undefined} onFinish={() => void queries.invalidateQueries({ queryKey: [SuppressionList.name] })}
        />
      </SplitView>
    </>
  )
}
