import { DropdownMenu } from 'radix-ui'
import { Ellipsis, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

export interface MenuEntry {
  name: string
  icon?: LucideIcon
  run: () => void
  danger?: boolean
  hidden?: boolean
}

// Menu is a button that opens a menu of actions.
export function Menu({ label = 'More actions', entries, align = 'end', children }: { label?: string; entries: MenuEntry[]; align?: 'start' | 'end'; children?: ReactNode }) {
  const visible = entries.filter((e) => !e.hidden)
  if (visible.length === 0) return null
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{children ?? <button type="button" className="btn square" aria-label={label}><Ellipsis aria-hidden /></button>}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align={align} sideOffset={4} className="menu">
          {visible.map(({ name, icon: Icon, run, danger }) => (
            <DropdownMenu.Item key={name} className={`menu-item ${danger ? 'text-bad' : ''}`} onSelect={run}>{Icon && <Icon aria-hidden />}{name}</DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
