import type { ReactNode } from 'react'

// Grid is a short table in a card, which scrolls sideways if necessary. `right` lists the columns of figures.
export function Grid({ label, heads, right = [], children }: { label: string; heads: string[]; right?: number[]; children: ReactNode[][] }) {
  const side = (i: number) => (right.includes(i) ? 'text-right tabular-nums whitespace-nowrap' : '')
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={label}>
      <table aria-label={label} className="w-full border-collapse text-left">
        <thead><tr className="h-8 border-b border-line text-xs text-ink-3">{heads.map((h, i) => <th key={h} scope="col" className={`px-3 font-medium whitespace-nowrap first:pl-4 last:pr-4 ${side(i)}`}>{h}</th>)}</tr></thead>
        <tbody>
          {children.map((cells, row) => <tr key={row} className="border-b border-line-soft align-top last:border-0">{cells.map((cell, i) => <td key={i} className={`min-w-24 px-3 py-2 first:pl-4 last:pr-4 ${side(i)}`}>{cell}</td>)}</tr>)}
        </tbody>
      </table>
    </div>
  )
}
