import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { count, percent, seconds, shareOf, type Figures } from './figures'

export interface TableRow {
  key: string
  name: ReactNode
  figures: Figures
  search?: { q: string }
}

const heads = ['Accepted', 'Delivered', 'Bounced', 'Failed', 'Complained', 'Opened', 'Clicked', 'p50', 'p95']

// FiguresTable shows figures by period or by group. It scrolls sideways if it is wide.
export function FiguresTable({ label, first, rows, total }: { label: string; first: string; rows: TableRow[]; total?: Figures }) {
  return (
    <div className="max-h-[520px] overflow-auto" tabIndex={0} role="region" aria-label={label}>
      <table className="w-full min-w-[760px] border-collapse text-left">
        <thead className="sticky top-0 z-1 bg-surface shadow-[inset_0_-1px_var(--color-line)]">
          <tr className="h-8 text-xs text-ink-3">
            <th scope="col" className="px-4 font-medium">{first}</th>
            {heads.map((h) => <th key={h} scope="col" className="px-2 text-right font-medium last:pr-4">{h}</th>)}
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => <Row key={r.key} row={r} />)}
        </tbody>
        {total && <tfoot className="sticky bottom-0 bg-surface font-medium shadow-[inset_0_1px_var(--color-line)]"><Row row={{ key: 'total', name: 'All', figures: total }} /></tfoot>}
      </table>
    </div>
  )
}

function Row({ row: { name, figures: f, search } }: { row: TableRow }) {
  return (
    <tr className="h-9 border-b border-line-soft hover:bg-hover">
      <th scope="row" className="max-w-[260px] truncate px-4 font-normal whitespace-nowrap">{name}</th>
      <Cell>{search && f.accepted > 0 ? <Link to="/emails" search={search as never} preload={false} className="link" title="View these emails">{count(f.accepted)}</Link> : count(f.accepted)}</Cell>
      <Cell>{count(f.delivered)}</Cell>
      <Cell part={percent(shareOf(f.bounceRate))} none={f.bounced === 0}>{count(f.bounced)}</Cell>
      <Cell>{count(f.failed)}</Cell>
      <Cell part={percent(shareOf(f.complaintRate))} none={f.complained === 0}>{count(f.complained)}</Cell>
      <Cell>{count(f.opened)}</Cell>
      <Cell>{count(f.clicked)}</Cell>
      <Cell>{f.latency ? seconds(f.latency.p50) : '–'}</Cell>
      <Cell>{f.latency ? seconds(f.latency.p95) : '–'}</Cell>
    </tr>
  )
}

const Cell = ({ children, part, none }: { children: ReactNode; part?: string; none?: boolean }) => (
  <td className="px-2 text-right whitespace-nowrap last:pr-4">{children}{part && !none && <span className="ml-1.5 text-xs text-ink-3">{part}</span>}</td>
)
