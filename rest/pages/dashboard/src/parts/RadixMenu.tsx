import { DropdownMenu } from 'radix-ui'
import { useEffect, useRef } from 'react'
import type { LoadedMenuProps } from './Menu'

// RadixMenu is the menu that replaces the trigger of Menu once the library has loaded.
export default function RadixMenu({ entries, align, open, focused, children }: LoadedMenuProps) {
  const trigger = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (focused) trigger.current?.focus()
  }, [])
  return (
    <DropdownMenu.Root modal={false} defaultOpen={open}>
      <DropdownMenu.Trigger ref={trigger} asChild>{children}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align={align} sideOffset={4} className="menu">
          {entries.map(({ name, icon: Icon, run, danger }) => (
            <DropdownMenu.Item key={name} className={`menu-item ${danger ? 'text-bad' : ''}`} onSelect={run}>{Icon && <Icon aria-hidden />}{name}</DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
