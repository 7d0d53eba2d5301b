import { useState } from 'react'
import { unwrap, rest } from '@/api/rest'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { OneTimeSecret, useWrite } from '@/parts/Form'

// Rotate makes a new secret and shows it once.
export function Rotate({ id, onClose }: { id: string; onClose: () => void }) {
  const [secret, setSecret] = useState<string>()
  const rotate = useWrite(() => unwrap(rest.POST('/webhooks/{id}/rotate-secret', { params: { path: { id } } })))
  if (secret) {
    return (
      <Dialog wide title="The new secret" onClose={onClose} actions={<button type="button" className="btn primary" onClick={onClose}>I have copied it</button>}>
        <OneTimeSecret secret={secret} label="the secret" />
        <p className="text-ink-2">Until this time tomorrow deliveries carry a signature by the old secret too.</p>
      </Dialog>
    )
  }
  const go = () => void rotate.run().then((a) => a && setSecret(a.secret))
  return (
    <Dialog title="Rotate the secret?" onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Back</button><button type="button" className="btn primary" disabled={rotate.busy} onClick={go}>Make a new secret</button></>}>
      <p className="text-ink-2">For 24 hours deliveries are signed with the new secret and the one before it. A secret before those ends at once.</p>
      {rotate.error !== null && <ErrorAlert error={rotate.error} retry={go} />}
    </Dialog>
  )
}
