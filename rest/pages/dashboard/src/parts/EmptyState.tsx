import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { CodeBlock } from './CodeBlock'
import { Command, type CommandSpec } from './Command'

// EmptyState explains why a list is empty, with the command or button that adds the first item.
export function EmptyState({ icon: Icon, title, children, command, action }: { icon: LucideIcon; title: string; children?: ReactNode; command?: string | CommandSpec; action?: ReactNode }) {
  return (
    <div data-empty className="grid grid-cols-1 justify-items-center gap-3 px-6 py-12 text-center text-ink-2">
      <Icon aria-hidden className="!size-6 text-ink-3" />
      <h2 className="text-ink">{title}</h2>
      {children && <div className="max-w-[480px]">{children}</div>}
      {command && <div className="w-full max-w-[720px]">{typeof command === 'string' ? <CodeBlock run="sh" text={command} /> : <Command {...command} />}</div>}
      {action}
    </div>
  )
}
