import type { LucideIcon } from 'lucide-react'
import type { ComponentType } from 'react'
import type { Right } from './viewer'

// ScreenRoute is a page of a screen.
export interface ScreenRoute {
  path: string
  title: string
  load: () => Promise<{ default: ComponentType }>
}

export interface Nav {
  group: Group
  name: string
  icon: LucideIcon
  to: string
  // order is the position in the group.
  order: number
  // shortcut is the second key of a shortcut such as `g e`.
  shortcut?: string
  // keywords are additional search terms for the command palette.
  keywords?: string
}

// groups lists the groups of the sidebar in display order.
export const groups = ['', 'Email', 'Build', 'Deliver', 'Developers', 'Account', 'Operator'] as const
export type Group = (typeof groups)[number]

// Screen describes a folder of src/screens. A screen whose module is off, or for which the viewer lacks
// the right, is neither in the sidebar nor reachable.
export interface Screen {
  routes: ScreenRoute[]
  nav?: Nav | Nav[]
  // module lists the modules that must be on.
  module?: string | string[]
  right?: Right
  operator?: boolean
  // test says that the screen is available in test mode, or only there.
  test?: 'too' | 'only'
}

export const defineScreen = (s: Screen): Screen => s
