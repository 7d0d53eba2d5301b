import { Mail } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { Card } from '@/parts/Page'
import { useAgain } from './me'

// Who edits the user's name and address. A new address takes effect once the link sent to it is used.
export function Who({ name, email }: { name: string; email: string }) {
  const again = useAgain()
  const [asked, setAsked] = useState('')
  const save = useWrite(async (next: { name: string; email: string }) => {
    const body = { ...(next.name !== name ? { name: next.name } : {}), ...(next.email !== email ? { email: next.email } : {}) }
    if (Object.keys(body).length === 0) return toast.success('No changes to save')
    await unwrap(rest.PATCH('/user', { body }))
    setAsked(body.email ?? '')
    await again()
    if (!body.email) toast.success('Name saved')
  })
  function submit(e: FormEvent<HTMLFormElement>) {
    e.preventDefault()
    const data = new FormData(e.currentTarget)
    void save.run({ name: String(data.get('name')).trim(), email: String(data.get('email')).trim() })
  }
  return (
    <Card title="Profile">
      <form key={`${name} ${email}`} onSubmit={submit} className="grid max-w-[420px] gap-3">
        <Field label="Name" error={save.fieldErrors.name}>{(p) => <input {...p} name="name" defaultValue={name} maxLength={200} autoComplete="name" className="input" />}</Field>
        <Field label="Email" hint="Takes effect once you open the link sent to the new address." error={save.fieldErrors.email}>{(p) => <input {...p} name="email" type="email" required defaultValue={email} autoComplete="email" className="input" />}</Field>
        {asked && <p role="status" className="flex gap-2 rounded-control bg-accent-soft px-3 py-2 text-accent"><Mail aria-hidden className="mt-0.5" /><span className="min-w-0 wrap-anywhere">A link was sent to {asked}. Until you open it, you sign in as {email}.</span></p>}
        {save.error && Object.keys(save.fieldErrors).length === 0 ? <ErrorAlert error={save.error} /> : null}
        <button type="submit" className="btn justify-self-start" disabled={save.busy}>Save</button>
      </form>
    </Card>
  )
}
