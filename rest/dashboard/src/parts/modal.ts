import { useLayoutEffect, useRef } from 'react'

// openerOf is what the focus goes back to: of an entry of a menu, which closes, the menu's button.
function openerOf(at: Element | null): HTMLElement | null {
  const menu = at?.closest('[role=menu]')
  return (menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : (at as HTMLElement | null)) ?? null
}

// useModal shows a dialog as long as it is rendered, and then gives the focus back; where its opener is
// gone, to the content of the page. It is never lost to the body, from where Tab begins at the top.
export function useModal() {
  const ref = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = ref.current
    const opener = openerOf(document.activeElement)
    dialog?.showModal()
    return () => {
      dialog?.close() // now, while it is in the page: the browser gives the focus back
      const lost = () => document.activeElement === null || document.activeElement === document.body
      if (lost() && opener !== document.body) opener?.focus()
      setTimeout(() => lost() && document.getElementById('content')?.focus()) // the opener may go with the dialog
    }
  }, [])
  return ref
}
