import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Tone } from './Badge'
import { Time } from './Time'

// Timeline is what happened, the newest first.
export function Timeline({ children }: { children: ReactNode }) {
  return <ol className="min-w-0">{children}</ol>
}

// Moment is one entry: what, about whom, more in small, and the words of the other side.
export function Moment({ icon: Icon, tone, what, about, at, small, words }: { icon: LucideIcon; tone: Tone; what: ReactNode; about?: ReactNode; at: string; small?: ReactNode; words?: string | null }) {
  return (
    <li className="relative grid grid-cols-[24px_minmax(0,1fr)_auto] gap-x-2 pb-3 before:absolute before:top-6 before:bottom-0 before:left-[11.5px] before:w-px before:bg-line last:before:hidden">
      <span className={`grid size-6 place-items-center rounded-full tone-${tone}`}><Icon aria-hidden className="!size-3 [stroke-width:2]" /></span>
      <div className="min-w-0 pt-0.5">
        <p className="wrap-anywhere"><b className="font-medium">{what}</b> {about}</p>
        {small && <div className="text-xs text-ink-2">{small}</div>}
        {words && <p className={`smtp ${tone}`}>{words}</p>}
      </div>
      <span className="pt-1 text-xs text-ink-3"><Time at={at} seconds /></span>
    </li>
  )
}
