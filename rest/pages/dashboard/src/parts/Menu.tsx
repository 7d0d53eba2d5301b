import { Ellipsis, type LucideIcon } from 'lucide-react'
import { cloneElement, useRef, useState, type ComponentProps, type ComponentType, type ReactElement } from 'react'
import { store, useStore } from '@/api/store'
import { toast } from '@/app/toasts'

export interface MenuEntry {
  name: string
  icon?: LucideIcon
  run: () => void
  danger?: boolean
  hidden?: boolean
}

export interface LoadedMenuProps {
  entries: MenuEntry[]
  align: 'start' | 'end'
  open: boolean
  focused: boolean
  children: ReactElement
}

const library = store<ComponentType<LoadedMenuProps> | null>(null)

// loadMenus loads the library for menus. The page calls it when it is idle.
export const loadMenus = () => import('./RadixMenu').then((m) => library.set(m.default))
const preload = () => void loadMenus().catch(() => {}) // a click reports the error

// Menu is a button that opens a menu of actions.
export function Menu({ label = 'More actions', entries, align = 'end', children }: { label?: string; entries: MenuEntry[]; align?: 'start' | 'end'; children?: ReactElement }) {
  const Loaded = useStore(library)
  const [open, setOpen] = useState(false)
  const focused = useRef(false)
  const visible = entries.filter((e) => !e.hidden)
  if (visible.length === 0) return null
  const trigger = children ?? <button type="button" className="btn square" aria-label={label}><Ellipsis aria-hidden /></button>
  if (Loaded) return <Loaded entries={visible} align={align} open={open} focused={focused.current}>{trigger}</Loaded>
  return cloneElement(trigger as ReactElement<ComponentProps<'button'>>, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onPointerEnter: preload,
    onFocus: () => { focused.current = true; preload() },
    onBlur: () => { focused.current = false },
    onClick: () => { setOpen(true); loadMenus().catch(toast.error) },
  })
}
