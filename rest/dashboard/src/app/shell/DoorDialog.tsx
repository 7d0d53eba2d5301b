import { useEffect, useRef, useState, type FormEvent } from 'react'
import { failureOf, wordsOf } from '@/api/failed'
import type { Ask } from '@/api/door'
import { useViewer } from '@/app/viewer'
import { Dialog } from '@/parts/Dialog'
import { Field } from '@/parts/Form'

// DoorDialog keeps a page as it is while the person signs in again or confirms who they are.
export default function DoorDialog({ ask }: { ask: Ask }) {
  return ask.what === 'sign-in' ? <SignInAgain ask={ask} /> : <Confirm ask={ask} />
}

interface Session {
  session: { account_id: string | null }
  user: { id: string; email: string }
}

async function presentSession(): Promise<Session | null> {
  const response = await fetch('/api/session', { cache: 'no-store' })
  if (response.status === 401) return null
  if (!response.ok) throw await failureOf(response)
  return (await response.json()) as Session
}

// SignInAgain goes on by itself once the person comes back from the tab where they signed in, unless they
// are somebody else there: what is on this page is not for another account.
function SignInAgain({ ask }: { ask: Ask }) {
  const { user, account } = useViewer()
  const [found, setFound] = useState<string>()
  const look = useRef<(pressed: boolean) => Promise<void>>(async () => {})
  look.current = async (pressed) => {
    try {
      const now = await presentSession()
      if (!now) return setFound(pressed ? 'You have not signed in yet.' : undefined)
      if (now.user.id !== user?.id) return setFound(`You are signed in as ${now.user.email} there. This page belongs to ${user?.email}.`)
      if ((now.session.account_id ?? undefined) !== account?.id) return setFound(`You are in another account there. This page belongs to ${account?.name ?? 'none'}.`)
      ask.done(true)
      void import('@/api/follow').then(({ again }) => again())
    } catch (error) {
      if (pressed) setFound(wordsOf(error))
    }
  }
  useEffect(() => {
    const back = () => void look.current(false)
    addEventListener('focus', back)
    return () => removeEventListener('focus', back)
  }, [])
  return (
    <Dialog title="Your session has ended" onClose={() => ask.done(false)} actions={<><button type="button" className="btn" onClick={() => ask.done(false)}>Not now</button><button type="button" className="btn primary" onClick={() => void look.current(true)}>I have signed in: go on</button></>}>
      <p className="text-ink-2">Nothing you typed is lost. <a className="link" href="/sign-in" target="_blank" rel="noreferrer">Sign in again in a new tab</a>, then come back here and go on.</p>
      {found && <p role="alert" className="text-bad">{found}</p>}
    </Dialog>
  )
}

function Confirm({ ask }: { ask: Ask }) {
  const [wrong, setWrong] = useState('')
  const [busy, setBusy] = useState(false)
  async function confirm(e: FormEvent<HTMLFormElement>) {
    e.preventDefault()
    const value = String(new FormData(e.currentTarget).get('secret'))
    setBusy(true)
    try {
      const body = /^\d{6}$/.test(value) ? { code: value } : { password: value }
      const response = await fetch('/api/session/confirm', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
      if (!response.ok) throw await failureOf(response)
      ask.done(true)
    } catch (error) {
      setWrong(wordsOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title="Confirm that it is you" onClose={() => ask.done(false)}>
      <form className="grid gap-3" onSubmit={(e) => void confirm(e)}>
        <p className="text-ink-2">This needs a confirmation from the last ten minutes.</p>
        <Field label="Password, or a code of your authenticator app" wrong={wrong}>
          {(p) => <input {...p} name="secret" type="password" autoComplete="current-password" required className="input" autoFocus />}
        </Field>
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={() => ask.done(false)}>Cancel</button>
          <button type="submit" className="btn primary" disabled={busy}>Confirm</button>
        </div>
      </form>
    </Dialog>
  )
}
