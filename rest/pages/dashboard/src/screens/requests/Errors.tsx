import { useQuery } from '@tanstack/react-query'
import { Check } from 'lucide-react'
import { Badge } from '@/parts/Badge'
import { DataTable, type Column } from '@/parts/DataTable'
import { EmptyState } from '@/parts/EmptyState'
import { fetchAll } from '@/parts/fetchAll'
import { Time } from '@/parts/Time'
import type { Filter, Row } from './data'
import { troublesOf, type Trouble } from './errors'
import { lookOf } from './look'
import { RequestList } from './queries.gen'

const most = 500

// newest fetches the newest failed requests that match the filter.
async function newest(filter: Filter, signal: AbortSignal): Promise<Row[]> {
  const failed = { ...filter, status: { gte: Math.max(filter.status?.gte ?? 400, 400), lt: filter.status?.lt ?? null } }
  return (await fetchAll(RequestList, { first: 100, filter: failed }, (d) => d.apiRequests, signal, () => {}, most)).nodes
}

// Errors groups failed requests by error.
export function Errors({ filter, enabled, show }: { filter: Filter; enabled: boolean; show: (trouble: Trouble) => void }) {
  const read = useQuery({ queryKey: [RequestList.name, 'errors', filter], queryFn: ({ signal }) => newest(filter, signal), enabled })
  const rows = troublesOf(read.data ?? [])
  const columns: Column<Trouble>[] = [
    { key: 'status', head: 'Status', width: '92px', cell: (t) => <Badge {...lookOf(t.status)}>{t.status}</Badge> },
    { key: 'what', head: 'Operation', width: '190px', grows: true, cell: (t) => <button type="button" className="block max-w-full truncate text-left" onClick={() => show(t)}><code>{t.operation}</code></button> },
    { key: 'words', head: 'Response', from: 'slim', cell: (t) => <span className="text-ink-2" title={t.message}>{t.message || t.code || 'Response not kept'}</span> },
    { key: 'count', head: 'Count', width: '84px', right: true, cell: (t) => <b className="font-medium">{t.count.toLocaleString()}</b> },
    { key: 'last', head: 'Last seen', width: '104px', right: true, from: 'mid', cell: (t) => <span className="text-xs text-ink-3"><Time at={t.last.createdAt} /></span> },
  ]
  return (
    <DataTable
      label="Errors" rows={rows} columns={columns} idOf={(t) => t.key} nameOf={(t) => `${t.operation} ${t.status}`} onOpen={(key) => { const t = rows.find((r) => r.key === key); if (t) show(t) }}
      loading={read.isPending && enabled} error={read.error} retry={() => void read.refetch()}
      empty={<EmptyState icon={Check} title="No errors">No failed requests in the last seven days match this filter.</EmptyState>}
      above={(read.data?.length ?? 0) >= most ? <p className="px-4 py-2 text-xs text-ink-3 md:px-6">Based on the newest {most} failed requests.</p> : undefined}
    />
  )
}
