import { useRef, useState, type FormEvent } from 'react'
import { done, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { Failure } from '@/parts/Failure'
import { Field, useWrite } from '@/parts/Form'
import { Card } from '@/parts/Page'
import { useAgain } from './me'

// Password changes the password, which ends the other sessions.
export function Password({ has, email }: { has: boolean; email: string }) {
  const again = useAgain()
  const form = useRef<HTMLFormElement>(null)
  const [shown, setShown] = useState(false)
  const save = useWrite(async (current: string, next: string) => {
    await done(rest.PATCH('/user', { body: { password: { current, new: next } } }))
    form.current?.reset()
    await again()
    toast.ok('The password is changed; other sessions have ended')
  })
  const wrongNow = save.wrong['password.current'] ?? save.wrong.current
  const wrongNew = save.wrong['password.new'] ?? save.wrong.new ?? save.wrong.password
  function submit(e: FormEvent<HTMLFormElement>) {
    e.preventDefault()
    const data = new FormData(e.currentTarget)
    void save.run(String(data.get('current')), String(data.get('new')))
  }
  if (!has) {
    return <Card title="Password"><p className="text-ink-2">You sign in without a password. To get one, sign out and choose <a className="link under" href="/sign-in">Forgot the password</a> on the sign-in page.</p></Card>
  }
  return (
    <Card title="Password">
      <form ref={form} onSubmit={submit} className="grid max-w-[420px] gap-3">
        <input hidden type="text" name="username" autoComplete="username" value={email} readOnly />
        <Field label="Present password" wrong={wrongNow}>{(p) => <input {...p} name="current" type={shown ? 'text' : 'password'} required autoComplete="current-password" className="input" />}</Field>
        <Field label="New password" hint="Your other sessions end." wrong={wrongNew}>{(p) => <input {...p} name="new" type={shown ? 'text' : 'password'} required autoComplete="new-password" className="input" />}</Field>
        <label className="flex items-center gap-2 text-xs text-ink-2"><input type="checkbox" checked={shown} onChange={(e) => setShown(e.target.checked)} className="accent-accent-fill" />Show what I type</label>
        {save.error && !wrongNow && !wrongNew ? <Failure error={save.error} /> : null}
        <button type="submit" className="btn justify-self-start" disabled={save.busy}>Change the password</button>
      </form>
    </Card>
  )
}
