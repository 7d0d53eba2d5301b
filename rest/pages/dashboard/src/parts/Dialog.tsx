import { useState, type ReactNode } from 'react'
import { useModal } from './modal'

// Dialog is open while it is rendered. The browser traps the focus, closes the dialog on Esc and
// restores the focus. With `keep`, the first Esc only shows that text, because closing loses something.
export function Dialog({ title, onClose, children, actions, wide, keep }: { title: string; onClose: () => void; children?: ReactNode; actions?: ReactNode; wide?: boolean; keep?: string }) {
  const ref = useModal()
  const [warned, setWarned] = useState(false)
  return (
    <dialog ref={ref} aria-label={title} onCancel={(e) => { e.preventDefault(); if (keep && !warned) setWarned(true); else onClose() }} className={`m-auto max-h-[calc(100dvh-32px)] w-[calc(100%-32px)] animate-pop overflow-auto rounded-panel bg-raised p-5 shadow-panel ${wide ? 'max-w-[680px]' : 'max-w-[440px]'}`}>
      <div className="grid gap-3">
        <h2 className="text-lg">{title}</h2>
        {children}
        {warned && <p role="alert" className="text-right text-xs text-warn">{keep}</p>}
        {actions && <div className="mt-1 flex flex-wrap justify-end gap-2">{actions}</div>}
      </div>
    </dialog>
  )
}
