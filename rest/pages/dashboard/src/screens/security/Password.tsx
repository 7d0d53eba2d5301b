import { useRef, useState, type FormEvent } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { Card } from '@/parts/Page'
import { useAgain } from './me'

// Password changes the password, which ends the other sessions.
export function Password({ has, email }: { has: boolean; email: string }) {
  const again = useAgain()
  const form = useRef<HTMLFormElement>(null)
  const [shown, setShown] = useState(false)
  const save = useWrite(async (current: string, next: string) => {
    await unwrap(rest.PATCH('/user', { body: { password: { current, new: next } } }))
    form.current?.reset()
    await again()
    toast.success('Password changed. Other sessions have ended.')
  })
  const wrongNow = save.fieldErrors['password.current'] ?? save.fieldErrors.current
  const wrongNew = save.fieldErrors['password.new'] ?? save.fieldErrors.new ?? save.fieldErrors.password
  function submit(e: FormEvent<HTMLFormElement>) {
    e.preventDefault()
    const data = new FormData(e.currentTarget)
    void save.run(String(data.get('current')), String(data.get('new')))
  }
  if (!has) {
    return <Card title="Password"><p className="text-ink-2">You sign in without a password. To set one, sign out and choose <a className="link under" href="/sign-in">Forgot the password</a> on the sign-in page.</p></Card>
  }
  return (
    <Card title="Password">
      <form ref={form} onSubmit={submit} className="grid max-w-[420px] gap-3">
        <input hidden type="text" name="username" autoComplete="username" value={email} readOnly />
        <Field label="Current password" error={wrongNow}>{(p) => <input {...p} name="current" type={shown ? 'text' : 'password'} required autoComplete="current-password" className="input" />}</Field>
        <Field label="New password" hint="You’ll be signed out on other devices." error={wrongNew}>{(p) => <input {...p} name="new" type={shown ? 'text' : 'password'} required autoComplete="new-password" className="input" />}</Field>
        <label className="flex items-center gap-2 text-xs text-ink-2"><input type="checkbox" checked={shown} onChange={(e) => setShown(e.target.checked)} className="accent-accent-fill" />Show password</label>
        {save.error && !wrongNow && !wrongNew ? <ErrorAlert error={save.error} /> : null}
        <button type="submit" className="btn justify-self-start" disabled={save.busy}>Change password</button>
      </form>
    </Card>
  )
}
