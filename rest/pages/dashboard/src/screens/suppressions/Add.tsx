import { useState, type FormEvent } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'

export function Add({ onClose, added }: { onClose: () => void; added: () => void }) {
  const [email, setEmail] = useState('')
  const add = useWrite(() => unwrap(rest.POST('/suppressions', { body: { email: email.trim() } })))
  async function submit(e: FormEvent) {
    e.preventDefault()
    const answer = await add.run()
    if (!answer) return
    added()
    const { reason } = answer.suppression
    toast.success(reason === 'manual' ? `${answer.suppression.email} suppressed` : `${answer.suppression.email} is already suppressed: ${reason}`)
    onClose()
  }
  return (
    <Dialog title="Suppress an address" onClose={onClose}>
      <form onSubmit={(e) => void submit(e)} className="grid gap-4">
        <Field label="Address" hint="This account won’t send emails to it anymore." error={add.fieldErrors.email}>
          {(p) => <input {...p} className="input" value={email} onChange={(e) => setEmail(e.target.value)} placeholder="bob@example.net" required autoFocus autoComplete="off" autoCapitalize="none" spellCheck={false} inputMode="email" />}
        </Field>
        {add.error !== null && Object.keys(add.fieldErrors).length === 0 && <ErrorAlert error={add.error} />}
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>Cancel</button>
          <button type="submit" className="btn primary" disabled={add.busy}>Suppress</button>
        </div>
      </form>
    </Dialog>
  )
}
