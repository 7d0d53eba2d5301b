import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { buildNav } from '../registry'
import { useViewer } from '../viewer'
import { closePalette, paletteOpen, paletteText, shortcutsOpen } from './state'

// isTyping reports whether a key press belongs to an input.
export function isTyping(e: KeyboardEvent): boolean {
  const target = e.target as HTMLElement | null
  return !!target?.closest('input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true], .cm-editor, [role=menu], dialog')
}

// useShortcuts handles the global shortcuts: ⌘K, `/` for the filter, `g` and a letter for a screen, `?` for help.
export function useShortcuts() {
  const navigate = useNavigate()
  const viewer = useViewer()
  useEffect(() => {
    const paths = new Map(buildNav({ ...viewer, can: viewer.rights }).flatMap((g) => g.entries).flatMap((n) => (n.shortcut ? [[n.shortcut, n.to] as const] : [])))
    let gPressedAt = 0
    const onKeyDown = (e: KeyboardEvent) => {
      if ((e.metaKey || e.ctrlKey) && e.key.toLowerCase() === 'k') {
        e.preventDefault()
        if (paletteOpen.get()) closePalette()
        else paletteOpen.set(true)
        return
      }
      if (e.metaKey || e.ctrlKey || e.altKey) return
      if (paletteOpen.get() && !document.querySelector('dialog[open]')) { // it still loads, and starts with this text
        e.preventDefault()
        if (e.key === 'Escape') closePalette()
        else if (e.key.length === 1) paletteText.set(paletteText.get() + e.key)
        return
      }
      if (isTyping(e)) return
      if (e.key === '/') {
        const field = document.querySelector<HTMLInputElement>('[data-filter]')
        if (field) {
          e.preventDefault()
          field.focus()
          field.select()
        }
        return
      }
      if (e.key === '?') {
        e.preventDefault()
        shortcutsOpen.set(true)
        return
      }
      if (e.key === 'g') {
        gPressedAt = Date.now()
        return
      }
      const to = paths.get(e.key)
      if (to && Date.now() - gPressedAt < 1200) {
        e.preventDefault()
        void navigate({ to })
      }
      gPressedAt = 0
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [navigate, viewer.account?.id])
}
