import { useEffect, useRef, useState, type FormEvent } from 'react'
import { readError, errorMessage } from '@/api/errors'
import type { AuthPrompt } from '@/api/authPrompt'
import { useViewer } from '@/app/viewer'
import { Dialog } from '@/parts/Dialog'
import { Field } from '@/parts/Form'

// AuthDialog asks the user to sign in again or to confirm their identity, without leaving the page.
export default function AuthDialog({ prompt }: { prompt: AuthPrompt }) {
  return prompt.kind === 'sign-in' ? <SignInAgain prompt={prompt} /> : <ConfirmIdentity prompt={prompt} />
}

interface Session {
  session: { account_id: string | null }
  user: { id: string; email: string }
}

async function fetchSession(): Promise<Session | null> {
  const response = await fetch('/api/session', { cache: 'no-store' })
  if (response.status === 401) return null
  if (!response.ok) throw await readError(response)
  return (await response.json()) as Session
}

// SignInAgain continues automatically when the user returns from the tab where they signed in. It does
// not continue for another user or account, which must not see this page.
function SignInAgain({ prompt }: { prompt: AuthPrompt }) {
  const { user, account } = useViewer()
  const [message, setMessage] = useState<string>()
  const checkSession = useRef<(clicked: boolean) => Promise<void>>(async () => {})
  checkSession.current = async (clicked) => {
    try {
      const current = await fetchSession()
      if (!current) return setMessage(clicked ? 'You haven’t signed in yet.' : undefined)
      if (current.user.id !== user?.id) return setMessage(`You signed in as ${current.user.email}, but this page belongs to ${user?.email}.`)
      if ((current.session.account_id ?? undefined) !== account?.id) return setMessage(account ? `You signed in to a different account. This page belongs to ${account.name}.` : 'You signed in to an account, but this page doesn’t belong to one.')
      prompt.done(true)
      void import('@/api/liveUpdates').then(({ reconnect }) => reconnect())
    } catch (error) {
      if (clicked) setMessage(errorMessage(error))
    }
  }
  useEffect(() => {
    const onFocus = () => void checkSession.current(false)
    addEventListener('focus', onFocus)
    return () => removeEventListener('focus', onFocus)
  }, [])
  return (
    <Dialog title="Your session has ended" onClose={() => prompt.done(false)} actions={<><button type="button" className="btn" onClick={() => prompt.done(false)}>Not now</button><button type="button" className="btn primary" onClick={() => void checkSession.current(true)}>Continue</button></>}>
      <p className="text-ink-2">Your changes are kept. <a className="link" href="/sign-in" target="_blank" rel="noreferrer">Sign in again in a new tab</a>, then return here and continue.</p>
      {message && <p role="alert" className="text-bad">{message}</p>}
    </Dialog>
  )
}

function ConfirmIdentity({ prompt }: { prompt: AuthPrompt }) {
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  async function confirm(e: FormEvent<HTMLFormElement>) {
    e.preventDefault()
    const value = String(new FormData(e.currentTarget).get('secret'))
    setBusy(true)
    try {
      const body = /^\d{6}$/.test(value) ? { code: value } : { password: value }
      const response = await fetch('/api/session/confirm', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
      if (!response.ok) throw await readError(response)
      prompt.done(true)
    } catch (error) {
      setError(errorMessage(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title="Confirm your identity" onClose={() => prompt.done(false)}>
      <form className="grid gap-3" onSubmit={(e) => void confirm(e)}>
        <p className="text-ink-2">You need to confirm your identity every 10 minutes for sensitive changes.</p>
        <Field label="Password or authenticator code" error={error}>
          {(p) => <input {...p} name="secret" type="password" autoComplete="current-password" required className="input" autoFocus />}
        </Field>
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={() => prompt.done(false)}>Cancel</button>
          <button type="submit" className="btn primary" disabled={busy}>Confirm</button>
        </div>
      </form>
    </Dialog>
  )
}
