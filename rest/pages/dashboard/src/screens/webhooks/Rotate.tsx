import { useState } from 'react'
import { unwrap, rest } from '@/api/rest'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { keepSecret, OneTimeSecret, useWrite } from '@/parts/Form'

// Rotate creates a new secret and shows it once.
export function Rotate({ id, onClose }: { id: string; onClose: () => void }) {
  const [secret, setSecret] = useState<string>()
  const rotate = useWrite(() => unwrap(rest.POST('/webhooks/{id}/rotate-secret', { params: { path: { id } } })))
  if (secret) {
    return (
      <Dialog wide keep={keepSecret} title="New secret" onClose={onClose} actions={<button type="button" className="btn primary" onClick={onClose}>I’ve copied it</button>}>
        <OneTimeSecret secret={secret} label="secret" />
        <p className="text-ink-2">For the next 24 hours, deliveries are also signed with the old secret.</p>
      </Dialog>
    )
  }
  const go = () => void rotate.run().then((a) => a && setSecret(a.secret))
  return (
    <Dialog title="Rotate the secret?" onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="button" className="btn primary" disabled={rotate.busy} onClick={go}>Create new secret</button></>}>
      <p className="text-ink-2">For 24 hours, deliveries are signed with both the new and the current secret. Older secrets stop working immediately.</p>
      {rotate.error !== null && <ErrorAlert error={rotate.error} retry={go} />}
    </Dialog>
  )
}
