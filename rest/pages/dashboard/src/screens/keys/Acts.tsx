import { useState } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { Field } from '@/parts/Form'
import { Time } from '@/parts/Time'
import type { ApiKeyRowFragment } from './queries.gen'

type Key = ApiKeyRowFragment

const revoke = (id: string) => unwrap(rest.DELETE('/api-keys/{id}', { params: { path: { id } } }))

// RevokeKey asks before a key is revoked.
export function RevokeKey({ apiKey: k, onClose, revoked }: { apiKey: Key; onClose: () => void; revoked: () => void }) {
  return (
    <ConfirmDialog
      title={`Revoke ${k.name}?`} label="Revoke key" danger onClose={onClose}
      run={async () => {
        await revoke(k.id)
        revoked()
        toast.success(`${k.name} revoked`)
      }}
    >
      <p>Requests with this key will fail within five seconds. This cannot be undone. {k.lastUsedAt ? <>Last used <Time at={k.lastUsedAt} />.</> : 'Never used.'}</p>
    </ConfirmDialog>
  )
}

// RenameKey changes the name of a key.
export function RenameKey({ apiKey: k, onClose, renamed }: { apiKey: Key; onClose: () => void; renamed: () => void }) {
  const [name, setName] = useState(k.name)
  async function run() {
    await unwrap(rest.PATCH('/api-keys/{id}', { params: { path: { id: k.id } }, body: { name: name.trim() } }))
    renamed()
    toast.success('API key renamed')
  }
  return (
    <ConfirmDialog title={`Rename ${k.name}`} label="Rename" onClose={onClose} run={run}>
      <Field label="Name">{(p) => <input {...p} className="input" value={name} onChange={(e) => setName(e.target.value)} maxLength={200} autoFocus autoComplete="off" />}</Field>
    </ConfirmDialog>
  )
}
