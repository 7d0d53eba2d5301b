import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { navFor } from '../registry'
import { useViewer } from '../viewer'
import { paletteOpen } from './state'

// typing tells whether a key press belongs to a field.
export function typing(e: KeyboardEvent): boolean {
  const at = e.target as HTMLElement | null
  return !!at?.closest('input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true], .cm-editor, [role=menu], dialog')
}

// useShortcuts are the keys of every page: ⌘K, `/` to the filter, `g` and a letter to a screen.
export function useShortcuts() {
  const navigate = useNavigate()
  const viewer = useViewer()
  useEffect(() => {
    const places = new Map(navFor({ ...viewer, can: viewer.rights }).flatMap((g) => g.entries).flatMap((n) => (n.shortcut ? [[n.shortcut, n.to] as const] : [])))
    let going = 0
    const press = (e: KeyboardEvent) => {
      if ((e.metaKey || e.ctrlKey) && e.key.toLowerCase() === 'k') {
        e.preventDefault()
        paletteOpen.set(!paletteOpen.get())
        return
      }
      if (e.metaKey || e.ctrlKey || e.altKey || typing(e)) return
      if (e.key === '/') {
        const field = document.querySelector<HTMLInputElement>('[data-filter]')
        if (field) {
          e.preventDefault()
          field.focus()
          field.select()
        }
        return
      }
      if (e.key === 'g') {
        going = Date.now()
        return
      }
      const to = places.get(e.key)
      if (to && Date.now() - going < 1200) {
        e.preventDefault()
        void navigate({ to })
      }
      going = 0
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [navigate, viewer.account?.id])
}
