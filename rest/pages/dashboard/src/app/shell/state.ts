import { store } from '@/api/store'

export const paletteOpen = store(false)

// paletteText is what the palette searches for.
export const paletteText = store('')

export function closePalette() {
  paletteText.set('')
  paletteOpen.set(false)
}

export const shortcutsOpen = store(false)

// sideOpen reports whether the sidebar is open on small screens.
export const sideOpen = store(false)

// navAlertCounts contains the number of problems of each screen, by path.
export const navAlertCounts = store<ReadonlyMap<string, number>>(new Map())
