import { useState, type FormEvent } from 'react'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { givable, restRole, type Role } from './roles'

// Invite emails an invitation to join the team.
export function Invite({ onClose, invited }: { onClose: () => void; invited: () => void }) {
  const { role: mine } = useViewer()
  const choices = givable(mine)
  const [role, setRole] = useState<Role>('DEVELOPER')
  const send = useWrite(async (email: string) => {
    await unwrap(rest.POST('/invitations', { body: { email, role: restRole(role) }, params: { header: { 'Idempotency-Key': newIdempotencyKey() } } }))
    invited()
    toast.success(`${email} invited`)
    onClose()
  })
  function submit(e: FormEvent<HTMLFormElement>) {
    e.preventDefault()
    void send.run(String(new FormData(e.currentTarget).get('email')).trim())
  }
  return (
    <Dialog title="Invite a member" onClose={onClose}>
      <form onSubmit={submit} className="grid gap-3">
        <p className="text-ink-2">They receive an email with a link that works once, within seven days.</p>
        <Field label="Email" error={send.fieldErrors.email}>{(p) => <input {...p} name="email" type="email" required autoFocus autoComplete="off" className="input" />}</Field>
        <fieldset className="grid gap-1">
          <legend className="mb-1 font-medium">Role</legend>
          {choices.map((r) => (
            <label key={r.key} className="flex items-start gap-2 rounded-control px-2 py-1 hover:bg-hover has-checked:bg-accent-soft">
              <input type="radio" name="role" value={r.key} checked={role === r.key} onChange={() => setRole(r.key)} className="mt-1 accent-accent-fill" />
              <span><b className="block font-medium">{r.name}</b><span className="text-xs text-ink-3">{r.about}</span></span>
            </label>
          ))}
        </fieldset>
        {send.error && !send.fieldErrors.email ? <ErrorAlert error={send.error} /> : null}
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>Cancel</button>
          <button type="submit" className="btn primary" disabled={send.busy}>Send invitation</button>
        </div>
      </form>
    </Dialog>
  )
}
