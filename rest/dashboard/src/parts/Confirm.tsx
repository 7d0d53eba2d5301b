import { useState, type ReactNode } from 'react'
import { Dialog } from './Dialog'
import { Failure } from './Failure'

// Confirm asks before something that cannot be undone, and shows why it failed.
export function Confirm({ title, children, label, danger, onClose, run }: { title: string; children: ReactNode; label: string; danger?: boolean; onClose: () => void; run: () => Promise<unknown> }) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  async function go() {
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
    <Dialog title={title} onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Back</button><button type="button" className={`btn ${danger ? 'danger' : 'primary'}`} disabled={busy} onClick={() => void go()}>{label}</button></>}>
      <div className="text-ink-2">{children}</div>
      {error !== undefined && <Failure error={error} />}
    </Dialog>
  )
}
