import type { ReactNode } from 'react'
import { useModal } from './modal'

// Dialog is open while it is rendered. The browser traps the focus, closes the dialog on Esc and
// restores the focus.
export function Dialog({ title, onClose, children, actions, wide }: { title: string; onClose: () => void; children?: ReactNode; actions?: ReactNode; wide?: boolean }) {
  const ref = useModal()
  return (
    <dialog ref={ref} aria-label={title} onCancel={(e) => { e.preventDefault(); onClose() }} className={`m-auto max-h-[calc(100dvh-32px)] w-[calc(100%-32px)] animate-pop overflow-auto rounded-panel bg-raised p-5 shadow-panel ${wide ? 'max-w-[680px]' : 'max-w-[440px]'}`}>
      <div className="grid gap-3">
        <h2 className="text-lg">{title}</h2>
        {children}
        {actions && <div className="mt-1 flex flex-wrap justify-end gap-2">{actions}</div>}
      </div>
    </dialog>
  )
}
