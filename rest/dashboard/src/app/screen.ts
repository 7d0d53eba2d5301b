import type { LucideIcon } from 'lucide-react'
import type { ComponentType } from 'react'
import type { Right } from './viewer'

// ScreenRoute is a page of a screen: its path and where its component comes from.
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
  // order is the place in its group.
  order: number
  // shortcut goes there, as in `g e`.
  shortcut?: string
  // words are others by which the palette finds it.
  words?: string
}

// The groups of the side bar, in their order.
export const groups = ['', 'Mail', 'Build', 'Deliver', 'Developers', 'Account', 'Operator'] as const
export type Group = (typeof groups)[number]

// Screen is what a folder of src/screens says of itself. Where it needs a module or a right that is
// not there, it is neither in the side bar nor reachable.
export interface Screen {
  routes: ScreenRoute[]
  nav?: Nav | Nav[]
  // module must be on; of several each.
  module?: string | string[]
  right?: Right
  operator?: boolean
}

export const screen = (s: Screen): Screen => s
