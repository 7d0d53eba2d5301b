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

// Passkeys let a person in without a password.
export function Passkeys() {
  const list = usePasskeys()
  const again = useAgain()
  const [adding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<{ id: string; name: string }>()
  return (
    <Card title="Passkeys" padded={false} actions={passkeysWork && <button type="button" className="btn sm" onClick={() => setAdding(true)}><Fingerprint aria-hidden />Add a passkey</button>}>
      {list.error ? <div className="p-4"><ErrorAlert error={list.error} retry={() => void list.refetch()} /></div>
        : !list.data ? <div className="p-4"><SkeletonText lines={2} /></div>
          : list.data.length === 0 ? <p className="p-4 text-ink-2">None yet. A passkey of this device, its fingerprint or a security key signs you in without a password and cannot be phished. {!passkeysWork && 'This page must be opened over https, or at localhost, to add one.'}</p>
            : (
              <ul>
                {list.data.map((k) => (
                  <li key={k.id} className="flex items-center gap-3 border-b border-line-soft px-4 py-2 last:border-0">
                    <Fingerprint aria-hidden className="text-ink-3" />
                    <span className="min-w-0 flex-1"><b className="block truncate font-medium">{k.name || 'Passkey'}</b><span className="text-xs text-ink-3">made <Time at={k.created_at} />, {k.last_used_at ? <>used <Time at={k.last_used_at} /></> : 'not used yet'}</span></span>
                    <button type="button" className="btn quiet sm square" aria-label={`Remove ${k.name || 'the passkey'}`} title="Remove" onClick={() => setRemoving(k)}><Trash2 aria-hidden /></button>
                  </li>
                ))}
              </ul>
            )}
      {adding && <Add onClose={() => setAdding(false)} added={() => void again()} />}
      {removing && (
        <ConfirmDialog title={`Remove ${removing.name || 'the passkey'}?`} label="Remove it" danger onClose={() => setRemoving(undefined)} run={async () => { await unwrap(rest.DELETE('/user/passkeys/{id}', { params: { path: { id: removing.id } } })); await again(); toast.success('The passkey is removed') }}>
          It lets nobody in any more. Sessions that it began go on; remove it on the device, too.
        </ConfirmDialog>
      )}
    </Card>
  )
}

function Add({ onClose, added }: { onClose: () => void; added: () => void }) {
  const make = useWrite(async (name: string) => {
    const { challenge_id, options } = await unwrap(rest.POST('/user/passkeys/options'))
    const credential = await makePasskey(options)
    if (!credential) throw new Error('No passkey was made on the device.')
    await unwrap(rest.POST('/user/passkeys', { body: { challenge_id, credential, name } }))
    added()
    toast.success('The passkey is added')
    onClose()
  })
  return (
    <Dialog title="Add a passkey" onClose={onClose}>
      <form className="grid gap-3" onSubmit={(e) => { e.preventDefault(); void make.run(String(new FormData(e.currentTarget).get('name')).trim()) }}>
        <Field label="Name" hint="By which you know it: the device it is on." error={make.fieldErrors.name}>{(p) => <input {...p} name="name" required maxLength={200} autoFocus placeholder="Laptop" className="input" />}</Field>
        {make.error && !make.fieldErrors.name ? <ErrorAlert error={make.error} /> : null}
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>Cancel</button>
          <button type="submit" className="btn primary" disabled={make.busy}>{make.busy ? 'Go on at the device…' : 'Go on'}</button>
        </div>
      </form>
    </Dialog>
  )
}
