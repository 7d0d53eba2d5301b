import { Link } from '@tanstack/react-router'
import { Mail } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { now } from '@/api/clock'
import { usePages } from '@/api/graphql'
import { useSearchParams } from '@/app/searchParams'
import { useIsNarrow } from '@/app/viewport'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { BulkBar } from '@/parts/BulkBar'
import { useColumns } from '@/parts/ColumnMenu'
import { CopyableId } from '@/parts/CopyButton'
import { DataTable, NewRowsNotice } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { fetchAll } from '@/parts/fetchAll'
import { ExportButton } from '@/parts/ExportButton'
import { FilterBar, setTerm } from '@/parts/FilterBar'
import { filterError } from '@/parts/filterTerms'
import { ForeignText, showInvisible } from '@/parts/ForeignText'
import { PageHead } from '@/parts/Page'
import { adjacentRows, Sheet, SplitView } from '@/parts/Sheet'
import { SkeletonText } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { useBulk } from './bulk'
import { useFresh } from './fresh'
import { EmailList, ScheduledList, type EmailLineFragment } from './queries.gen'
import { lookOfEmail } from './status'

type Row = EmailLineFragment

const EmailView = lazy(() => import('./EmailView').then((m) => ({ default: m.EmailView })))

const daysAgo = (days: number) => new Date(now() - days * 86_400_000).toISOString().slice(0, 10)

const choices = [
  {
    field: 'is', label: 'Any status',
    values: ['scheduled', 'queued', 'sent', 'delivered', 'opened', 'clicked', 'bounced', 'failed', 'cancelled'].map((value) => ({ value, name: value[0]?.toUpperCase() + value.slice(1) })),
  },
  { field: 'after', label: 'Any time', values: [{ value: daysAgo(0), name: 'Today' }, { value: daysAgo(7), name: 'Last 7 days' }, { value: daysAgo(30), name: 'Last 30 days' }] },
]
const hints = ['to:ada@example.com', 'from:news@example.com', 'subject:receipt', 'domain:example.com', 'tag:name=value', 'is:bounced', 'template:tpl_…', 'automation:aut_…', 'after:2026-01-31', 'before:2026-12-31']

export const pageSize = 50

const nameOf = (e: Row) => `${e.to[0] ?? 'no recipient'}: ${e.subject}`

export default function List() {
  const [address, change] = useSearchParams()
  const { can } = useViewer()
  const narrow = useIsNarrow()
  const q = address.q ?? ''
  const scheduled = q === 'is:scheduled' // sorted by the time of sending, the next one first
  const reversed = address.sort === (scheduled ? 'latest' : 'oldest')
  const part = reversed ? { last: pageSize } : { first: pageSize }
  const emails = usePages(EmailList, { ...part, q: q || null }, (d) => d.emails, { keepPrevious: true, enabled: !scheduled })
  const next = usePages(ScheduledList, part, (d) => d.scheduledEmails, { keepPrevious: true, enabled: scheduled })
  const list = scheduled ? next : emails
  const fresh = useFresh(q, list.rows, scheduled ? [ScheduledList.name, part] : [EmailList.name, { ...part, q: q || null }], scheduled ? 'scheduled' : reversed ? 'oldest' : 'newest')
  const wrong = filterError(list.error)
  const open = address.open
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const actions = useBulk()
  useEffect(() => setSelected(new Set()), [q])
  const all = (signal: AbortSignal, report: (read: number) => void) =>
    fetchAll(EmailList, { first: 100, q: q || null }, (d) => d.emails, signal, report).then(({ nodes, more }) => ({ items: nodes.map((e) => ({ id: e.id, name: nameOf(e) })), more }))
  const go = (id: string | null) => change({ open: id ?? undefined }, !open)
  const filterBy = (field: string, value: string) => change({ q: setTerm(q, field, value), open: undefined }, true)

  const { columns, menu } = useColumns<Row>([
    { key: 'status', head: 'Status', width: narrow ? '118px' : '124px', cell: (e) => { const look = lookOfEmail(e); return <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge> } },
    {
      key: 'to', head: 'To', width: 'min(240px, 36cqw)', grows: true,
      cell: (e) => (
        <>
          <Link to="." search={((old: object) => ({ ...old, open: e.id })) as never} className="block truncate font-medium" title={e.to.join(', ')}>{e.to[0] ?? 'no recipient'}{e.to.length > 1 && <span className="font-normal text-ink-3"> +{e.to.length - 1}</span>}</Link>
          <span className="block truncate text-xs text-ink-3 @min-[460px]:hidden"><When row={e} /> · <ForeignText text={e.subject} /></span>
        </>
      ),
    },
    { key: 'subject', head: 'Subject', from: 'slim', cell: (e) => <span title={showInvisible(e.subject)}><ForeignText text={e.subject} />{e.snippet && <span className="text-ink-3"> · {e.snippet}</span>}</span> },
    {
      key: 'tags', head: 'Tags', optional: 'Tags', width: '204px', from: 'wide',
      cell: (e) => <span className="flex gap-1">{e.tags.slice(0, 2).map((t) => <button key={t.name} type="button" className="chip" title="Filter by this tag" onClick={() => filterBy('tag', `${t.name}=${t.value}`)}>{t.name}=<b>{t.value}</b></button>)}{e.tags.length > 2 && <span className="text-xs text-ink-3">+{e.tags.length - 2}</span>}</span>,
    },
    { key: 'domain', head: 'Domain', optional: 'Domain', width: '120px', from: 'vast', cell: (e) => e.domain && <button type="button" className="max-w-full truncate text-ink-2 hover:underline" title="Filter by this domain" onClick={() => filterBy('domain', e.domain?.name ?? '')}>{e.domain.name}</button> },
    ...(can('WRITE') ? [{ key: 'apiKey', head: 'API key', optional: 'API key', width: '116px', from: 'huge' as const, cell: (e: Row) => <span className="text-ink-2" title={e.apiKey?.id}>{e.apiKey?.name}</span> }] : []),
    { key: 'at', head: 'Time', width: '128px', right: true, from: 'slim', sort: { order: reversed === scheduled ? 'descending' : 'ascending', toggle: () => change({ sort: reversed ? undefined : scheduled ? 'latest' : 'oldest' }) }, cell: (e) => <span className="text-xs text-ink-3"><When row={e} /></span> },
  ])

  const empty = q
    ? <EmptyState icon={Mail} title="No matches" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>}>No emails match this filter. Search finds beginnings of words and parts of addresses in all emails, and parts of words in the newest 10,000.</EmptyState>
    : <NoEmails />

  return (
    <>
      <PageHead title="Emails">
        {can('READ') && <ExportButton noun="emails" path="/emails/export" filter={wrong ? undefined : { q }} />}
        {can('SEND') && <Link to="/" search={{ step: 'send' } as never} className="btn">Send a test email</Link>}
      </PageHead>
      <SplitView
        sheet={open && (
          <Sheet label="Email" head={<CopyableId id={open} />} page={`/emails/${open}`} onClose={() => go(null)} {...adjacentRows(list.rows.map((r) => r.id), open, go)}>
            <Suspense fallback={<div className="p-5"><SkeletonText lines={8} /></div>}><EmailView key={open} id={open} inPanel /></Suspense>
          </Sheet>
        )}
      >
        <FilterBar placeholder="Address, subject, order number or ID" choices={choices} hints={hints} error={wrong}>{menu}</FilterBar>
        <DataTable
          label="Emails" rows={list.rows} columns={columns} idOf={(e) => e.id} nameOf={(e) => e.to[0] ?? e.id} height={narrow ? 52 : 36} open={open} onOpen={go}
          loading={list.isPending} error={wrong ? null : list.error} retry={() => void list.refetch()} hasMore={list.hasNextPage} more={list.more} empty={wrong ? null : empty}
          above={<NewRowsNotice count={fresh.count} show={fresh.show} />} selected={actions.length > 0 ? selected : undefined} onSelect={actions.length > 0 ? setSelected : undefined}
        />
        <BulkBar ids={[...selected]} actions={actions} onSelect={setSelected} noun={['email', 'emails']} nameOf={(id) => { const e = list.rows.find((r) => r.id === id); return e ? nameOf(e) : id }} loadAll={list.hasNextPage || selected.size < list.rows.length ? all : undefined} />
      </SplitView>
    </>
  )
}

// When shows when an email was accepted, or the time at which it will be sent.
function When({ row }: { row: Row }) {
  const scheduled = row.status === 'SCHEDULED' && row.scheduledAt
  return scheduled ? <span title="Sends at"><Time at={scheduled} absolute /></span> : <Time at={row.createdAt} />
}

function NoEmails() {
  return <EmptyState icon={Mail} title="No emails yet" command={{ email: {} }}>Emails you send will show up here.</EmptyState>
}
