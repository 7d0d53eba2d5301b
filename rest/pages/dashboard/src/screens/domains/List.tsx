import { Link, useNavigate } from '@tanstack/react-router'
import { Globe, Plus } from 'lucide-react'
import { useAllPages, usePages } from '@/api/graphql'
import { useLive } from '@/api/live'
import { useOpenParam, useSearchParams } from '@/app/searchParams'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { CopyButton } from '@/parts/CopyButton'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { FilterBar, termValue, parseTerms } from '@/parts/FilterBar'
import { domainToUnicode } from '@/parts/idn'
import { PageHead } from '@/parts/Page'
import { Time } from '@/parts/Time'
import { AddDomain } from './AddDomain'
import { domainLooks } from './look'
import { DomainList, type DomainRowFragment } from './queries.gen'

type Row = DomainRowFragment

const columns: Column<Row>[] = [
  { key: 'status', head: 'Status', width: '148px', cell: (d) => { const look = domainLooks[d.status]; return <Badge tone={look.tone} icon={look.icon}>{look.word}</Badge> } },
  {
    key: 'name', head: 'Domain',
    cell: (d) => <span className="flex min-w-0 items-center gap-0.5"><Link to={`/domains/${d.id}`} className="truncate font-medium" title={d.name}>{domainToUnicode(d.name)}</Link><CopyButton text={d.name} label={`Copy ${d.name}`} /></span>,
  },
  {
    key: 'records', head: 'Records found', width: '132px', from: 'slim',
    cell: (d) => { const required = d.records.filter((r) => r.required); return <span className="text-ink-2">{required.filter((r) => r.status === 'verified').length} of {required.length} required</span> },
  },
  { key: 'checked', head: 'Last check', width: '112px', from: 'mid', cell: (d) => <span className="text-xs text-ink-3">{d.lastCheckedAt ? <Time at={d.lastCheckedAt} /> : 'Never'}</span> },
  { key: 'at', head: 'Added', width: '112px', right: true, from: 'slim', cell: (d) => <span className="text-xs text-ink-3"><Time at={d.createdAt} /></span> },
]

const statuses = [
  { field: 'status', label: 'Any status', values: (Object.keys(domainLooks) as (keyof typeof domainLooks)[]).map((value) => ({ value: value.toLowerCase(), name: domainLooks[value].word })) },
]

// matches filters in the browser, because an account has few domains and the API has no filter.
function matches(d: Row, q: string): boolean {
  const status = termValue(q, 'status')
  const words = parseTerms(q).filter((t) => t.field !== 'status').map((t) => t.text.toLowerCase())
  return (!status || d.status.toLowerCase() === status) && words.every((w) => d.name.includes(w) || d.id === w)
}

export default function List() {
  const [address, change] = useSearchParams()
  const { can } = useViewer()
  const navigate = useNavigate()
  const [adding, setAdding] = useOpenParam('add')
  const list = usePages(DomainList, { first: 100 }, (d) => d.domains)
  useLive(['domain.'], () => void list.refetch())
  const q = address.q ?? ''
  const rows = q ? list.rows.filter((d) => matches(d, q)) : list.rows
  useAllPages(list, q !== '')

  const add = can('DEFINE') ? <button type="button" className="btn primary" onClick={() => setAdding(true)}><Plus aria-hidden />Add a domain</button> : undefined
  const empty = q
    ? <EmptyState icon={Globe} title="No matches" action={<button type="button" className="btn" onClick={() => change({ q: undefined })}>Clear filter</button>}>No domains match this filter.</EmptyState>
    : <EmptyState icon={Globe} title="No domains yet" action={add} command={{ request: { path: '/domains', body: { name: 'example.com' } }, scope: 'full' }}>Add the domain you send from and publish its DNS records. You can send once they’re verified.</EmptyState>

  return (
    <>
      <PageHead title="Domains">{list.rows.length > 0 && add}</PageHead>
      <FilterBar placeholder="Domain name" choices={statuses} />
      <DataTable
        label="Domains" rows={rows} columns={columns} idOf={(d) => d.id} nameOf={(d) => d.name} onOpen={(id) => id && void navigate({ to: `/domains/${id}` })}
        loading={list.isPending} error={list.error} retry={() => void list.refetch()} hasMore={list.hasNextPage} more={list.more} empty={empty}
      />
      {adding && can('DEFINE') && <AddDomain onClose={() => setAdding(false)} />}
    </>
  )
}
