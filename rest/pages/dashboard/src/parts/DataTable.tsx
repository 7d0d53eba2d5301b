import { ArrowDown, ArrowUp } from 'lucide-react'
import { useEffect, useLayoutEffect, useRef, useState, type CSSProperties, type ReactNode } from 'react'
import { isTyping } from '@/app/shell/shortcuts'
import { ErrorAlert } from './ErrorAlert'
import { SkeletonRows } from './Skeleton'
import { useVisibleRows } from './visibleRows'

export interface Column<Row> {
  key: string
  head: ReactNode
  cell: (row: Row) => ReactNode
  // width is a CSS width. One column should have none, so that it takes the remaining space.
  width?: string
  // grows lets the column take the remaining space on narrow lists, where other columns are hidden.
  grows?: boolean
  right?: boolean
  // sort is the order by this column, if the list can be sorted by it.
  sort?: { order: 'ascending' | 'descending'; toggle: () => void }
  // optional columns can be hidden by the user, who knows them by this name.
  optional?: string
  // from is the list width from which the column is visible.
  from?: 'slim' | 'mid' | 'wide' | 'vast' | 'huge'
}

const visibleFrom = { slim: 'hidden @min-[460px]:table-cell', mid: 'hidden @min-[660px]:table-cell', wide: 'hidden @min-[900px]:table-cell', vast: 'hidden @min-[1120px]:table-cell', huge: 'hidden @min-[1320px]:table-cell' }

// edgePadding is the padding of a column while all columns after it are hidden.
const edgePadding = {
  slim: '@max-[460px]:pr-4 md:@max-[460px]:pr-6', mid: '@max-[660px]:pr-4 md:@max-[660px]:pr-6', wide: '@max-[900px]:pr-4 md:@max-[900px]:pr-6', vast: '@max-[1120px]:pr-4 md:@max-[1120px]:pr-6',
  huge: '@max-[1320px]:pr-4 md:@max-[1320px]:pr-6',
}
const breakpoints = ['slim', 'mid', 'wide', 'vast', 'huge'] as const

function edgePaddingOf<Row>(columns: Column<Row>[], i: number): string {
  const following = columns.slice(i + 1).map((c) => c.from)
  if (following.length === 0) return 'pr-4 md:pr-6'
  const next = following.includes(undefined) ? undefined : breakpoints.find((w) => following.includes(w))
  return next ? edgePadding[next] : ''
}

export interface DataTableProps<Row> {
  label: string
  rows: Row[]
  columns: Column<Row>[]
  idOf: (row: Row) => string
  nameOf: (row: Row) => string
  // open is the id of the row whose sheet is open. Without onOpen, rows cannot be opened.
  open?: string
  onOpen?: (id: string | null) => void
  loading?: boolean
  error?: unknown
  retry?: () => void
  // more loads the next page. It is called before the end of the list is reached, or when it becomes defined later.
  more?: () => void
  hasMore?: boolean
  empty?: ReactNode
  // above is shown above the table header, for example the notice about new rows.
  above?: ReactNode
  selected?: ReadonlySet<string>
  onSelect?: (ids: Set<string>) => void
  height?: number
}

// DataTable is the list of every screen. Only visible rows are rendered. Tab stops at one row; the arrow keys, j and k
// move the cursor. Enter opens a row and moves the focus into its sheet, x selects it, b moves to the bulk bar, Esc
// closes the sheet and returns to the row.
export function DataTable<Row>(p: DataTableProps<Row>) {
  const height = p.height ?? 36
  const [box, setBox] = useState<HTMLElement | null>(null)
  const { start, end, reveal } = useVisibleRows(box, height, p.rows.length)
  const nearEnd = end > 0 && end > p.rows.length - 8 // the rendered rows are more than the visible ones
  useEffect(() => {
    if (nearEnd) p.more?.()
  }, [nearEnd, p.rows.length, !p.more])
  const cursor = useCursor(p, box, reveal)
  useLayoutEffect(() => limitTabStops(box, cursor.id))

  if (p.error && p.rows.length === 0) return <div className="p-4 md:p-6"><ErrorAlert error={p.error} retry={p.retry} /></div>
  if (p.loading && p.rows.length === 0) return <SkeletonRows />
  if (p.rows.length === 0) return <div className="min-h-0 flex-1 overflow-auto">{p.above}{p.empty}</div>
  const all = p.selected !== undefined && p.rows.every((r) => p.selected?.has(p.idOf(r)))
  return (
    <div ref={setBox} className="@container min-h-0 flex-1 overflow-auto" tabIndex={-1}>
      {p.above}
      <table aria-label={p.label} aria-rowcount={p.hasMore ? -1 : p.rows.length + 1} className="w-full table-fixed border-collapse text-left">
        <thead className="sticky top-0 z-1 bg-surface shadow-[inset_0_-1px_var(--color-line)]">
          <tr className="h-8 text-xs text-ink-3">
            {p.onSelect && (
              <th className="w-10 pl-4 md:w-12 md:pl-6">
                <input type="checkbox" aria-label="Select all loaded rows" checked={all} onChange={() => p.onSelect?.(all ? new Set() : new Set(p.rows.map(p.idOf)))} className="block accent-accent-fill" />
              </th>
            )}
            {p.columns.map((c, i) => <th key={c.key} scope="col" aria-sort={c.sort?.order} style={{ '--w': c.width } as CSSProperties} className={`${c.width ? (c.grows ? '@min-[460px]:w-(--w)' : 'w-(--w)') : ''} truncate px-2 font-medium first:pl-4 md:first:pl-6 ${edgePaddingOf(p.columns, i)} ${c.right ? 'text-right' : ''} ${c.from ? visibleFrom[c.from] : ''}`}>{c.sort ? <SortButton {...c.sort}>{c.head}</SortButton> : c.head}</th>)}
          </tr>
        </thead>
        <tbody>
          {start > 0 && <tr aria-hidden style={{ height: start * height }} />}
          {p.rows.slice(start, end).map((row, i) => {
            const id = p.idOf(row)
            const opened = p.open === id
            const at = cursor.id === id
            return (
              <tr
                key={id} data-row={id} aria-rowindex={start + i + 2} aria-selected={p.selected?.has(id) || undefined} style={{ height }} onFocus={() => cursor.set(id)} onClick={(e) => { if (!(e.target as Element).closest('a, button, input, label')) { cursor.set(id); p.onOpen?.(opened ? null : id) } }}
                className={`border-b border-line-soft ${p.onOpen ? 'cursor-default' : ''} ${opened || p.selected?.has(id) ? 'bg-accent-soft' : 'hover:bg-hover'} ${opened || at ? 'shadow-[inset_2px_0_var(--color-accent)]' : ''}`}
              >
                {p.onSelect && (
                  <td className="pl-4 md:pl-6">
                    <input type="checkbox" aria-label={`Select ${p.nameOf(row)}`} checked={p.selected?.has(id) ?? false} onChange={() => p.onSelect?.(toggle(p.selected, id))} className="block accent-accent-fill" />
                  </td>
                )}
                {p.columns.map((c, i) => <td key={c.key} className={`truncate px-2 first:pl-4 md:first:pl-6 ${edgePaddingOf(p.columns, i)} ${c.right ? 'text-right' : ''} ${c.from ? visibleFrom[c.from] : ''}`}>{c.cell(row)}</td>)}
              </tr>
            )
          })}
          {end < p.rows.length && <tr aria-hidden style={{ height: (p.rows.length - end) * height }} />}
        </tbody>
      </table>
      {p.error !== undefined && p.error !== null && <div className="p-4 md:px-6"><ErrorAlert error={p.error} retry={p.retry} /></div>}
      <p className="px-4 py-3 text-xs text-ink-3 md:px-6" aria-live="polite">{p.hasMore ? 'Loading more…' : `${p.rows.length} ${p.rows.length === 1 ? 'result' : 'results'}`}</p>
    </div>
  )
}

function SortButton({ order, toggle, children }: { order: 'ascending' | 'descending'; toggle: () => void; children: ReactNode }) {
  const Icon = order === 'ascending' ? ArrowUp : ArrowDown
  return <button type="button" className="inline-flex items-center gap-1 hover:text-ink" title={order === 'ascending' ? 'Oldest first' : 'Newest first'} onClick={toggle}>{children}<Icon aria-hidden className="!size-3" /></button>
}

// limitTabStops leaves only the row of the cursor, or the first one, in the tab order, so that Tab leaves a list of
// any length at once.
function limitTabStops(container: HTMLElement | null, id: string | null) {
  const rows = [...(container?.querySelectorAll<HTMLElement>('tr[data-row]') ?? [])]
  const stop = rows.find((r) => r.dataset.row === id) ?? rows[0]
  for (const row of rows) for (const e of row.querySelectorAll<HTMLElement>('a, button, input')) e.tabIndex = row === stop ? 0 : -1
}

function toggle(set: ReadonlySet<string> | undefined, id: string): Set<string> {
  const next = new Set(set)
  if (!next.delete(id)) next.add(id)
  return next
}

// useCursor moves the cursor by keyboard. An open sheet follows it.
function useCursor<Row>(p: DataTableProps<Row>, box: HTMLElement | null, reveal: (index: number) => void) {
  const [at, setAt] = useState<string | null>(p.open ?? null)
  const latest = useRef({ ...p, at, box, reveal })
  latest.current = { ...p, at, box, reveal }
  useEffect(() => {
    if (p.open) setAt(p.open)
  }, [p.open])
  useEffect(() => {
    const onKeyDown = (e: KeyboardEvent) => {
      if (e.metaKey || e.ctrlKey || e.altKey || isTyping(e)) return
      const { rows, idOf, open, onOpen, onSelect, selected, at, box, reveal } = latest.current
      const index = rows.findIndex((r) => idOf(r) === at)
      const go = (next: number) => {
        const to = Math.max(0, Math.min(rows.length - 1, next))
        const row = rows[to]
        if (row === undefined) return
        const id = idOf(row)
        setAt(id)
        latest.current.at = id // the next key press can precede the next render
        reveal(to)
        if (open) onOpen?.(id)
        if (!focusRow(id)) requestAnimationFrame(() => latest.current.at === id && focusRow(id))
      }
      const inTable = box?.contains(e.target as Node) && (e.target as Element).closest('tr[data-row]')
      if (e.key === 'j' || (e.key === 'ArrowDown' && inTable)) go(index + 1)
      else if (e.key === 'k' || (e.key === 'ArrowUp' && inTable)) go(index - 1)
      else if (e.key === 'Home' && inTable) go(0)
      else if (e.key === 'End' && inTable) go(rows.length - 1)
      else if (e.key === 'b' && selected?.size) document.querySelector<HTMLElement>('[data-bulk] button:not(:disabled), [role=toolbar] button:not(:disabled)')?.focus()
      else if (e.key === 'Enter' && index >= 0 && !(e.target as Element).closest('a, button, input')) onOpen?.(at)
      else if (e.key === 'x' && at && onSelect) onSelect(toggle(selected, at))
      else if (e.key === 'Escape' && open) {
        onOpen?.(null)
        requestAnimationFrame(() => focusRow(open))
      }
      else if (e.key === 'Escape' && selected?.size) {
        onSelect?.(new Set())
        requestAnimationFrame(() => at && focusRow(at))
      }
      else return
      e.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  return { id: at, set: setAt }
}

// focusRow focuses the link of a row, and reports whether the row is rendered.
export function focusRow(id: string): boolean {
  const link = document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"] a`)
  link?.focus({ preventScroll: true })
  return link !== null
}

// NewRowsNotice announces new rows above a list, so that rows do not move under the pointer.
export function NewRowsNotice({ count, show }: { count: number; show: () => void }) {
  return (
    <div role="status" className={count > 0 ? 'flex justify-center border-b border-line-soft bg-sunken p-1.5' : ''}>
      {count > 0 && <button type="button" className="btn sm" onClick={show}>Show {count} new</button>}
    </div>
  )
}
