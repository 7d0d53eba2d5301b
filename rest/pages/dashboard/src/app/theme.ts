import { store } from '@/api/store'

export type Theme = 'system' | 'light' | 'dark'

const root = document.documentElement

export const theme = store<Theme>((root.dataset.theme as Theme | undefined) ?? 'system')

// setTheme stores the choice in a cookie, so that the server can render it into the page without a flash.
export function setTheme(next: Theme) {
  theme.set(next)
  if (next === 'system') delete root.dataset.theme
  else root.dataset.theme = next
  document.cookie = `postrider-theme=${next}; path=/; max-age=${next === 'system' ? 0 : 31_536_000}; samesite=lax`
}
