import { useInfiniteQuery } from '@tanstack/react-query'
import { unwrap, rest } from '@/api/rest'
import { Badge, type Tone } from '@/parts/Badge'
import { CircleAlert, CircleCheck, Clock, CircleMinus, type LucideIcon } from 'lucide-react'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Card } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { dayOf, money } from './money'

const looks: Record<string, [Tone, LucideIcon, string]> = { paid: ['ok', CircleCheck, 'Paid'], open: ['warn', Clock, 'Open'], draft: ['quiet', Clock, 'Draft'], void: ['quiet', CircleMinus, 'Void'], uncollectible: ['bad', CircleAlert, 'Not collected'] }

// Invoices lists the invoices of the payment provider.
export function Invoices() {
  const list = useInfiniteQuery({
    queryKey: ['invoices'],
    queryFn: ({ pageParam }) => unwrap(rest.GET('/billing/invoices', { params: { query: { limit: 12, ...(pageParam ? { cursor: pageParam } : {}) } } })),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor,
  })
  const rows = list.data?.pages.flatMap((p) => p.invoices) ?? []
  return (
    <Card title="Invoices" padded={false} footer={list.hasNextPage && <button type="button" className="btn sm" disabled={list.isFetching} onClick={() => void list.fetchNextPage()}>Show older invoices</button>}>
      {list.error ? <div className="p-4"><ErrorAlert error={list.error} retry={() => void list.refetch()} /></div>
        : list.isPending ? <div className="p-4"><SkeletonText lines={3} /></div>
          : rows.length === 0 ? <p className="p-4 text-ink-3">No invoices yet. You get the first one with a paid plan.</p>
            : (
              <div className="relative overflow-x-auto" tabIndex={0} role="region" aria-label="Invoices">
                <table className="w-full min-w-[520px] border-collapse text-left">
                  <thead><tr className="h-8 border-b border-line text-xs text-ink-3">{['Invoice', 'Period', 'Status', 'Total', ''].map((h, i) => <th key={i} scope="col" className={`px-4 font-medium ${h === 'Total' ? 'text-right' : ''}`}>{h || <span className="sr-only">Files</span>}</th>)}</tr></thead>
                  <tbody>
                    {rows.map((r) => {
                      const [tone, icon, word] = looks[r.status] ?? ['quiet', Clock, r.status]
                      return (
                        <tr key={r.id} className="h-9 border-b border-line-soft last:border-0">
                          <th scope="row" className="px-4 font-normal">{r.number ?? r.id}</th>
                          <td className="px-4 text-ink-2">{[dayOf(r.period_start), dayOf(r.period_end)].filter(Boolean).join(' – ') || dayOf(r.created_at)}</td>
                          <td className="px-4"><Badge tone={tone} icon={icon}>{word}</Badge></td>
                          <td className="px-4 text-right">{money(r.total, r.currency)}</td>
                          <td className="px-4 text-right whitespace-nowrap">
                            {r.url && <a className="link" href={r.url} target="_blank" rel="noreferrer">Open</a>}
                            {r.pdf_url && <a className="link ml-3" href={r.pdf_url} target="_blank" rel="noreferrer">PDF</a>}
                          </td>
                        </tr>
                      )
                    })}
                  </tbody>
                </table>
              </div>
            )}
    </Card>
  )
}
