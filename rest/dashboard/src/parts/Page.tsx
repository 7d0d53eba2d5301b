import { Link } from '@tanstack/react-router'
import { ChevronLeft, ChevronRight, Menu } from 'lucide-react'
import type { ReactNode } from 'react'
import { sideOpen } from '@/app/shell/state'

// PageHead is the line above a page: its title, or the way to it, and at most two buttons.
export function PageHead({ title, up, children }: { title: ReactNode; up?: { to: string; name: string }; children?: ReactNode }) {
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
      {children && <div className="ml-auto flex flex-none items-center gap-2">{children}</div>}
    </header>
  )
}

// PageBody scrolls below the head.
export function PageBody({ narrow, children }: { narrow?: boolean; children: ReactNode }) {
  return (
    <div className="min-h-0 flex-1 overflow-auto" tabIndex={-1}>
      <div className={`grid min-w-0 content-start gap-4 p-4 md:gap-6 md:p-6 ${narrow ? 'mx-auto w-full max-w-[960px]' : ''}`}>{children}</div>
    </div>
  )
}

// Card is a block with a line around it and an optional head.
export function Card({ title, acts, children, pad = true, foot }: { title?: ReactNode; acts?: ReactNode; children?: ReactNode; pad?: boolean; foot?: ReactNode }) {
  return (
    <section className="card">
      {title && (
        <header className="flex min-h-11 flex-wrap items-center gap-2 border-b border-line px-4 py-1.5">
          <h2>{title}</h2>
          {acts && <div className="ml-auto flex items-center gap-2">{acts}</div>}
        </header>
      )}
      {children && <div className={pad ? 'p-4' : ''}>{children}</div>}
      {foot && <footer className="flex min-h-11 items-center gap-2 border-t border-line px-4 py-1.5 text-xs text-ink-3">{foot}</footer>}
    </section>
  )
}

// Facts are names and values, one line each.
export function Facts({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-[88px_minmax(0,1fr)] items-baseline gap-x-3 gap-y-1 md:grid-cols-[104px_minmax(0,1fr)]">{children}</dl>
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (children === null || children === undefined || children === '') return null
  return (
    <>
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="min-w-0 wrap-anywhere">{children}</dd>
    </>
  )
}
