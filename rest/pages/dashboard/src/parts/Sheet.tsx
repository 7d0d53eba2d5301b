import { Link } from '@tanstack/react-router'
import { ChevronDown, ChevronUp, Maximize2, X } from 'lucide-react'
import { useEffect, useRef, type ReactNode } from 'react'

// SplitView shows a list next to its sheet. On small screens, the sheet covers the list.
export function SplitView({ children, sheet }: { children: ReactNode; sheet?: ReactNode }) {
  return (
    <div className={`grid min-h-0 flex-1 ${sheet ? 'md:grid-cols-[minmax(0,1fr)_min(var(--sheet),46%)]' : ''}`}>
      <div className={`min-h-0 min-w-0 flex-col ${sheet ? 'hidden md:flex' : 'flex'}`}>{children}</div>
      {sheet}
    </div>
  )
}

// Sheet shows one record next to its list. `page` is the path of the record's page.
export function Sheet({ label, head, page, onClose, previous, next, children }: { label: string; head: ReactNode; page?: string; onClose: () => void; previous?: () => void; next?: () => void; children: ReactNode }) {
  const aside = useRef<HTMLElement>(null)
  // A sheet that was opened with the keyboard gets the focus, and returns it to the list.
  useEffect(() => {
    const opener = document.activeElement
    const byKeyboard = opener instanceof HTMLElement && opener.matches('tr[data-row] :focus-visible')
    if (byKeyboard) aside.current?.focus()
    return () => {
      if (byKeyboard && (document.activeElement === document.body || !document.activeElement)) opener.focus()
    }
  }, [])
  return (
    <aside ref={aside} tabIndex={-1} aria-label={label} className="flex min-h-0 min-w-0 animate-sheet flex-col border-line bg-raised md:border-l md:shadow-sheet">
      <header className="flex h-13 flex-none items-center gap-1 border-b border-line pr-3 pl-4 md:pl-5">
        <div className="min-w-0 flex-1">{head}</div>
        <button type="button" className="btn quiet sm square max-md:hidden" aria-label="Previous" disabled={!previous} onClick={previous}><ChevronUp aria-hidden /></button>
        <button type="button" className="btn quiet sm square max-md:hidden" aria-label="Next" disabled={!next} onClick={next}><ChevronDown aria-hidden /></button>
        {page && <Link to={page} className="btn quiet sm square" aria-label="Open full page" title="Open full page"><Maximize2 aria-hidden className="!size-3.5" /></Link>}
        <button type="button" className="btn quiet sm square" aria-label="Close" title="Close (Esc)" onClick={onClose}><X aria-hidden /></button>
      </header>
      <div className="min-h-0 flex-1 overflow-auto" tabIndex={-1}>{children}</div>
    </aside>
  )
}

// adjacentRows returns callbacks that open the previous and the next row.
export function adjacentRows(ids: string[], open: string | undefined, go: (id: string) => void) {
  const at = open ? ids.indexOf(open) : -1
  const [before, after] = [ids[at - 1], ids[at + 1]]
  return { previous: at > 0 && before ? () => go(before) : undefined, next: at >= 0 && after ? () => go(after) : undefined }
}
