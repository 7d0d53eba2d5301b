import { Link, useLocation } from '@tanstack/react-router'
import { ChevronLeft, ChevronRight, CircleQuestionMark, Menu } from 'lucide-react'
import type { ReactNode } from 'react'
import { helpFor } from '@/app/help'
import { sideOpen } from '@/app/shell/state'

// PageHead is the header of a page: its title, a link to the parent page and to the manual, and at most two buttons.
export function PageHead({ title, up, children }: { title: ReactNode; up?: { to: string; name: string }; children?: ReactNode }) {
  const help = helpFor(useLocation({ select: (l) => l.pathname }))
  return (
    <header className="flex min-h-13 flex-none items-center gap-2 border-b border-line bg-surface px-4 py-2 md:px-6">
      <button type="button" className="btn quiet square -ml-2 md:hidden" aria-label="Menu" onClick={() => sideOpen.set(true)}><Menu aria-hidden /></button>
      {up && (
        <>
          <Link to={up.to} aria-label={up.name} className="flex-none text-ink-2 hover:text-ink">
            <ChevronLeft aria-hidden className="size-5 md:hidden" />
            <span className="hidden md:inline">{up.name}</span>
          </Link>
          <ChevronRight aria-hidden className="hidden size-3.5 text-ink-3 md:block" />
        </>
      )}
      <h1 className="min-w-0 truncate">{title}</h1>
      <a href={help} target="_blank" rel="noreferrer" aria-label="Help for this page" title="Help for this page" className="inline-grid size-6 flex-none place-items-center rounded-control text-ink-3 hover:bg-hover hover:text-ink"><CircleQuestionMark aria-hidden className="!size-4" /></a>
      {children && <div className="ml-auto flex flex-none items-center gap-2">{children}</div>}
    </header>
  )
}

// PageBody is the scrolling content below the header.
export function PageBody({ narrow, children }: { narrow?: boolean; children: ReactNode }) {
  return (
    <div className="min-h-0 flex-1 overflow-auto" tabIndex={-1}>
      <div className={`grid min-w-0 content-start gap-4 p-4 md:gap-6 md:p-6 ${narrow ? 'w-full max-w-[1008px]' : ''}`}>{children}</div>
    </div>
  )
}

// Card is a bordered block with an optional header and footer.
export function Card({ title, actions, children, padded = true, footer }: { title?: ReactNode; actions?: ReactNode; children?: ReactNode; padded?: boolean; footer?: ReactNode }) {
  return (
    <section className="card">
      {title && (
        <header className="flex min-h-11 flex-wrap items-center gap-2 border-b border-line px-4 py-1.5">
          <h2>{title}</h2>
          {actions && <div className="ml-auto flex items-center gap-2">{actions}</div>}
        </header>
      )}
      {children && <div className={padded ? 'p-4' : ''}>{children}</div>}
      {footer && <footer className="flex min-h-11 items-center gap-2 border-t border-line px-4 py-1.5 text-xs text-ink-3">{footer}</footer>}
    </section>
  )
}

// DetailList is a list of names and values.
export function DetailList({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-[88px_minmax(0,1fr)] items-baseline gap-x-3 gap-y-1 md:grid-cols-[104px_minmax(0,1fr)]">{children}</dl>
}

export function Detail({ name, children }: { name: string; children: ReactNode }) {
  if (children === null || children === undefined || children === '') return null
  return (
    <>
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="min-w-0 wrap-anywhere">{children}</dd>
    </>
  )
}
