import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Tone } from './Badge'
import { Time } from './Time'

// Timeline lists events, newest first.
export function Timeline({ children }: { children: ReactNode }) {
  return <ol className="min-w-0">{children}</ol>
}

// TimelineEntry is one event: its title, subject, details, the reply of the remote server, and more below it.
export function TimelineEntry({ icon: Icon, tone, title, subject, at, details, reply, more }: { icon: LucideIcon; tone: Tone; title: ReactNode; subject?: ReactNode; at: string; details?: ReactNode; reply?: string | null; more?: ReactNode }) {
  return (
    <li className="relative grid grid-cols-[24px_minmax(0,1fr)_auto] gap-x-2 pb-3 before:absolute before:top-6 before:bottom-0 before:left-[11.5px] before:w-px before:bg-line last:before:hidden">
      <span className={`grid size-6 place-items-center rounded-full tone-${tone}`}><Icon aria-hidden className="!size-3 [stroke-width:2]" /></span>
      <div className="min-w-0 pt-0.5">
        <p className="wrap-anywhere"><b className="font-medium">{title}</b> {subject}</p>
        {details && <div className="text-xs text-ink-2">{details}</div>}
        {reply && <p className={`smtp ${tone}`}>{reply}</p>}
        {more}
      </div>
      <span className="pt-1 text-xs text-ink-3"><Time at={at} seconds /></span>
    </li>
  )
}
