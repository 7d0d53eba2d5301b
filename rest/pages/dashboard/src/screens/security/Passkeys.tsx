import { Fingerprint, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { Card } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Time } from '@/parts/Time'
import { useAgain, usePasskeys } from './me'
import { makePasskey, passkeysWork } from './webauthn'

// Passkeys lists the user's passkeys, which sign in without a password.
export function Passkeys() {
  const list = usePasskeys()
  const again = useAgain()
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<{ id: string; name: string }>()
  return (
    <Card title="Passkeys" padded={false} actions={passkeysWork && <button type="button" className="btn sm" onClick={() => setAdding(true)}><Fingerprint aria-hidden />Add a passkey</button>}>
      {list.error ? <div className="p-4"><ErrorAlert error={list.error} retry={() => void list.refetch()} /></div>
        : !list.data ? <div className="p-4"><SkeletonText lines={2} /></div>
          : list.data.length === 0 ? <p className="p-4 text-ink-2">No passkeys yet. A passkey uses this device, your fingerprint or a security key to sign you in without a password, and can’t be phished. {!passkeysWork && 'Adding one requires HTTPS or localhost.'}</p>
            : (
              <ul>
                {list.data.map((k) => (
                  <li key={k.id} className="flex items-center gap-3 border-b border-line-soft px-4 py-2 last:border-0">
                    <Fingerprint aria-hidden className="text-ink-3" />
                    <span className="min-w-0 flex-1"><b className="block truncate font-medium">{k.name || 'Passkey'}</b><span className="text-xs text-ink-3">created <Time at={k.created_at} />, {k.last_used_at ? <>last used <Time at={k.last_used_at} /></> : 'never used'}</span></span>
                    <button type="button" className="btn quiet sm square" aria-label={`Remove ${k.name || 'the passkey'}`} title="Remove" onClick={() => setRemoving(k)}><Trash2 aria-hidden /></button>
                  </li>
                ))}
              </ul>
            )}
      {adding && <Add onClose={() => setAdding(false)} added={() => void again()} />}
      {removing && (
        <ConfirmDialog title={`Remove ${removing.name || 'the passkey'}?`} label="Remove passkey" danger onClose={() => setRemoving(undefined)} run={async () => { await unwrap(rest.DELETE('/user/passkeys/{id}', { params: { path: { id: removing.id } } })); await again(); toast.success('Passkey removed') }}>
          You can no longer sign in with it. Sessions it started stay active. Remove it from your device too.
        </ConfirmDialog>
      )}
    </Card>
  )
}

function Add({ onClose, added }: { onClose: () => void; added: () => void }) {
  const make = useWrite(async (name: string) => {
    const { challenge_id, options } = await unwrap(rest.POST('/user/passkeys/options'))
    const credential = await makePasskey(options)
    if (!credential) throw new Error('No passkey was created on the device.')
    await unwrap(rest.POST('/user/passkeys', { body: { challenge_id, credential, name } }))
    added()
    toast.success('Passkey added')
    onClose()
  })
  return (
    <Dialog title="Add a passkey" onClose={onClose}>
      <form className="grid gap-3" onSubmit={(e) => { e.preventDefault(); void make.run(String(new FormData(e.currentTarget).get('name')).trim()) }}>
        <Field label="Name" hint="For example, the device that stores it." error={make.fieldErrors.name}>{(p) => <input {...p} name="name" required maxLength={200} autoFocus placeholder="Laptop" className="input" />}</Field>
        {make.error && !make.fieldErrors.name ? <ErrorAlert error={make.error} /> : null}
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>Cancel</button>
          <button type="submit" className="btn primary" disabled={make.busy}>{make.busy ? 'Waiting for your device…' : 'Continue'}</button>
        </div>
      </form>
    </Dialog>
  )
}
