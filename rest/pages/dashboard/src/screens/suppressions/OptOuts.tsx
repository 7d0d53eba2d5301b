import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { MailMinus, Trash2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import { usePages } from '@/api/graphql'
import { unwrap, rest } from '@/api/rest'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { BulkBar, type BulkAction } from '@/parts/BulkBar'
import { AddressLink } from '@/parts/AddressLink'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { fetchAll } from '@/parts/fetchAll'
import { FilterBar, termValue, parseTerms, setTerm } from '@/parts/FilterBar'
import { Time } from '@/parts/Time'
import { erased } from './look'
import { OptOutList, type OptOutRowFragment } from './queries.gen'

const nameOf = (o: OptOutRowFragment) => `${o.email ?? erased}: ${o.categoryLabel}`

const remove: BulkAction = {
  name: 'Remove', icon: Trash2, danger: true, description: 'These people can receive emails of the category again. Only do this if they asked for it.',
  run: (id) => unwrap(rest.DELETE('/category-opt-outs/{id}', { params: { path: { id } } })),
}

const sources: Record<string, string> = { one_click: 'Mail client button', page: 'Unsubscribe page' }

export function OptOuts() {
  const [address, change] = useSearchParams()
  const { can, has } = useViewer()
  const queries = useQueryClient()
  const [asking, setAsking] = useState<OptOutRowFragment>()
  const q = address.q ?? ''
  const category = termValue(q, 'category')
  const words = parseTerms(q).filter((t) => t.field !== 'category').map((t) => t.text)
  const wrong = words.length > 1 ? 'Enter one address at a time. Quote a category with spaces: category:"Product news".' : undefined
  const filter = { email: words[0] ?? null, category: category || null }
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  useEffect(() => setSelected(new Set()), [q])
  const all = (signal: AbortSignal, report: (read: number) => void) =>
    fetchAll(OptOutList, { first: 100, ...filter }, (d) => d.categoryOptOuts, signal, report).then(({ nodes, more }) => ({ items: nodes.map((o) => ({ id: o.id, name: nameOf(o) })), more }))
  const list = usePages(OptOutList, { first: 100, ...filter }, (d) => d.categoryOptOuts, { keepPrevious: true, enabled: !wrong })

  const columns: Column<OptOutRowFragment>[] = [
    { key: 'email', head: 'Address', grows: true, cell: (o) => <span className="font-medium" title={o.email ?? erased}>{o.email ? <AddressLink address={o.email} className="block truncate hover:underline" /> : <i className="text-ink-3">{erased}</i>}</span> },
    { key: 'category', head: 'Category', width: '180px', cell: (o) => <button type="button" className="chip" title="Filter by this category" onClick={() => change({ q: setTerm(q, 'category', o.category) }, true)}><b>{o.categoryLabel}</b></button> },
    { key: 'how', head: 'Method', width: '180px', from: 'mid', cell: (o) => <span className="text-ink-2">{sources[o.source] ?? o.source}</span> },
    { key: 'source', head: 'Email', width: '220px', from: 'wide', cell: (o) => (o.emailId && has('sending') ? <Link to={`/emails/${o.emailId}`} className="link block truncate font-mono text-xs">{o.emailId}</Link> : <span className="text-ink-3">Unknown</span>) },
    { key: 'at', head: 'Since', width: '104px', right: true, from: 'slim', cell: (o) => <span className="text-xs text-ink-3"><Time at={o.createdAt} /></span> },
    ...(can('WRITE') ? [{ key: 'act', head: <span className="sr-only">Actions</span>, width: '68px', right: true, cell: (o: OptOutRowFragment) => <button type="button" className="btn quiet sm square" aria-label={`Remove the ${o.categoryLabel} opt-out of ${o.email ?? erased}`} title="Remove" onClick={() => setAsking(o)}><Trash2 aria-hidden /></button> }] : []),
  ]
  const empty = q
    ? <EmptyState icon={MailMinus} title="No matches" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>}>Enter the full address.</EmptyState>
    : (
      <EmptyState
        icon={MailMinus} title="No opt-outs yet"
        command={{ email: { subject: 'News', category: 'Product news' } }}
      >
        Emails with a category include a link to unsubscribe from it. People who use the link are listed here; other emails are still sent to them.
      </EmptyState>
    )
  return (
    <>
      <FilterBar placeholder="Full address, or category:" error={wrong} />
      <DataTable
        label="Category opt-outs" rows={list.rows} columns={columns} idOf={(o) => o.id} nameOf={(o) => o.email ?? erased} loading={list.isPending && !wrong} error={list.error} retry={() => void list.refetch()}
        hasMore={list.hasNextPage} more={list.more} empty={wrong ? null : empty} selected={can('WRITE') ? selected : undefined} onSelect={can('WRITE') ? setSelected : undefined}
      />
      <BulkBar
        ids={[...selected]} actions={can('WRITE') ? [remove] : []} onSelect={setSelected} noun={['opt-out', 'opt-outs']} loadAll={list.hasNextPage || selected.size < list.rows.length ? all : undefined}
        nameOf={(id) => { const o = list.rows.find((x) => x.id === id); return o ? nameOf(o) : id }} onFinish={() => void queries.invalidateQueries({ queryKey: [OptOutList.name] })}
      />
      {asking && (
        <ConfirmDialog
          title="Remove the opt-out?" label="Remove opt-out" danger onClose={() => setAsking(undefined)}
          run={async () => {
            await unwrap(rest.DELETE('/category-opt-outs/{id}', { params: { path: { id: asking.id } } }))
            void queries.invalidateQueries({ queryKey: [OptOutList.name] })
            toast.success('Opt-out removed')
          }}
        >
          <p className="wrap-anywhere">{asking.email ?? 'The address'} can receive {asking.categoryLabel} again. Only do this if the person asked for it.</p>
        </ConfirmDialog>
      )}
    </>
  )
}
