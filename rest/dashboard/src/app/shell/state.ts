import { store } from '@/api/store'

export const paletteOpen = store(false)

// sideOpen is the side bar on small screens.
export const sideOpen = store(false)

// menuMarks counts what needs attention below the entries of the menu, by their addresses.
export const menuMarks = store<ReadonlyMap<string, number>>(new Map())
