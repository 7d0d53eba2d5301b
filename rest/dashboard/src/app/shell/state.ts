import { store } from '@/api/store'

export const paletteOpen = store(false)

// sideOpen is the side bar on small screens.
export const sideOpen = store(false)
