import { useLayoutEffect, useRef } from 'react'

// openerOf is what the focus goes back to: of an entry of a menu, which closes, the menu's button.
function openerOf(at: Element | null): HTMLElement | null {
  const menu = at?.closest('[role=menu]')
  return (menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : (at as HTMLElement | null)) ?? null
}

const watched = 3_000 // ms in which what a dialog did can take its opener away

const lost = () => document.activeElement === null || document.activeElement === document.body

// keep gives the focus back to the opener of a dialog, and to the content of the page once the opener is gone
// or cannot be pressed any more. Whoever goes on meanwhile is left alone.
function keep(opener: HTMLElement | null) {
  if (lost() && opener !== document.body) opener?.focus()
  const began = performance.now()
  const timer = setInterval(() => {
    if (lost()) document.getElementById('content')?.focus()
    if (document.activeElement !== opener || performance.now() - began > watched) clearInterval(timer)
  }, 50)
}

// useModal shows a dialog as long as it is rendered, and then gives the focus back. It is never lost to the
// body, from where nobody sees it.
export function useModal() {
  const ref = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = ref.current
    const opener = openerOf(document.activeElement)
    dialog?.showModal()
    return () => {
      dialog?.close() // now, while it is in the page: the browser gives the focus back
      keep(opener)
    }
  }, [])
  return ref
}
