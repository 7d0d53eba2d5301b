import { useRef, useState } from 'react'
import { now } from '@/api/clock'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { Dialog } from '@/parts/Dialog'
import { Field, keepSecret, OneTimeSecret } from '@/parts/Form'
import { Time } from '@/parts/Time'
import { scopes } from './look'
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

// RotateKey creates a key with the same name, scope, domains and expiry, and then revokes the old one, when the
// user’s app has the new one.
export function RotateKey({ apiKey: k, onClose, changed }: { apiKey: Key; onClose: () => void; changed: () => void }) {
  const [secret, setSecret] = useState('')
  const [revoking, setRevoking] = useState(false)
  async function create() {
    const expires = k.expiresAt && new Date(k.expiresAt).getTime() > now() ? k.expiresAt : null
    const answer = await unwrap(rest.POST('/api-keys', { body: { name: k.name, scope: scopes[k.scope].value, domain_ids: k.scope === 'READ' ? null : k.domainIds, expires_at: expires } }))
    setSecret(answer.secret)
    changed()
  }
  if (revoking) return <RevokeKey apiKey={k} onClose={onClose} revoked={changed} />
  if (secret) {
    return (
      <Dialog
        wide keep={keepSecret} title={`New secret of ${k.name}`} onClose={onClose}
        actions={<><button type="button" className="btn" onClick={onClose}>Keep both keys for now</button><button type="button" className="btn danger" onClick={() => setRevoking(true)}>Revoke the old key</button></>}
      >
        <OneTimeSecret secret={secret} label="key" />
        <p className="text-ink-2">Replace the key in your app. The old key, <code>{k.prefix}…</code>, works until you revoke it.</p>
      </Dialog>
    )
  }
  return <RotateConfirm apiKey={k} onClose={onClose} create={create} />
}

function RotateConfirm({ apiKey: k, onClose, create }: { apiKey: Key; onClose: () => void; create: () => Promise<void> }) {
  const created = useRef(false) // then the secret is shown instead
  return (
    <ConfirmDialog title={`Rotate ${k.name}?`} label="Create new key" onClose={() => { if (!created.current) onClose() }} run={async () => { await create(); created.current = true }}>
      Creates a key with the same scope, domains and expiry. The old key keeps working until you revoke it.
    </ConfirmDialog>
  )
}
