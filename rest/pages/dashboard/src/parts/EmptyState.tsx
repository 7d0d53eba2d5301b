import type { LucideIcon } from 'lucide-react'
import { lazy, Suspense, type ReactNode } from 'react'
import type { CommandSpec } from './Command'

const CodeBlock = lazy(() => import('./CodeBlock').then((m) => ({ default: m.CodeBlock })))
const Command = lazy(() => import('./Command').then((m) => ({ default: m.Command })))

// EmptyState explains why a list is empty, with the command or button that adds the first item.
export function EmptyState({ icon: Icon, title, children, command, action }: { icon: LucideIcon; title: string; children?: ReactNode; command?: string | CommandSpec; action?: ReactNode }) {
  return (
    <div data-empty className="grid grid-cols-1 justify-items-center gap-3 px-6 py-12 text-center text-ink-2">
      <Icon aria-hidden className="!size-6 text-ink-3" />
      <h2 className="text-ink">{title}</h2>
      {children && <div className="max-w-[480px]">{children}</div>}
      {command && <div className="w-full max-w-[720px]"><Suspense fallback={<span className="skel h-24 w-full" />}>{typeof command === 'string' ? <CodeBlock run="sh" text={command} /> : <Command {...command} />}</Suspense></div>}
      {action}
    </div>
  )
}
