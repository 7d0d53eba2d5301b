import { useLayoutEffect, useRef } from 'react'

// findOpener returns the element that gets the focus back. For a menu item, it is the button of the menu.
function findOpener(at: Element | null): HTMLElement | null {
  const menu = at?.closest('[role=menu]')
  return (menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : (at as HTMLElement | null)) ?? null
}

const watchFor = 3_000 // ms; the action of a dialog can remove its opener during this time

const isFocusLost = () => document.activeElement === null || document.activeElement === document.body

// restoreFocus returns the focus to the opener of a dialog, or to the page content if the opener is
// removed or disabled. It stops when the user moves the focus.
function restoreFocus(opener: HTMLElement | null) {
  if (isFocusLost() && opener !== document.body) opener?.focus()
  const startedAt = performance.now()
  const timer = setInterval(() => {
    if (isFocusLost()) document.getElementById('content')?.focus()
    if (document.activeElement !== opener || performance.now() - startedAt > watchFor) clearInterval(timer)
  }, 50)
}

// useModal opens a dialog while it is rendered, and then restores the focus. The focus never falls back
// to the body, where it is invisible.
export function useModal() {
  const ref = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = ref.current
    const opener = findOpener(document.activeElement)
    dialog?.showModal()
    return () => {
      dialog?.close() // while it is still in the page, so that the browser restores the focus
      restoreFocus(opener)
    }
  }, [])
  return ref
}
