import { useState, type ReactNode } from 'react'
import { Dialog } from './Dialog'
import { ErrorAlert } from './ErrorAlert'

// ConfirmDialog asks for confirmation before an action, and shows the error if the action fails.
export function ConfirmDialog({ title, children, label, danger, onClose, run }: { title: string; children: ReactNode; label: string; danger?: boolean; onClose: () => void; run: () => Promise<unknown> }) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  async function confirm() {
    setBusy(true)
    setError(undefined)
    try {
      await run()
      onClose()
    } catch (e) {
      setError(e)
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="button" className={`btn ${danger ? 'danger' : 'primary'}`} disabled={busy} onClick={() => void confirm()}>{label}</button></>}>
      <div className="text-ink-2">{children}</div>
      {error !== undefined && <ErrorAlert error={error} />}
    </Dialog>
  )
}
