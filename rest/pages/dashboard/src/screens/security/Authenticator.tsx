import { CircleCheck, CircleMinus, Smartphone } from 'lucide-react'
import { lazy, Suspense, useState, type FormEvent } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { Badge } from '@/parts/Badge'
import { CodeBlock } from '@/parts/CodeBlock'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { CopyButton } from '@/parts/CopyButton'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { Card } from '@/parts/Page'
import { useAgain } from './me'

const QrCode = lazy(() => import('./QrCode'))

type Stage = { secret: string; uri: string } | { codes: string[] }

// Authenticator sets the authenticator app up, or removes it.
export function Authenticator({ on }: { on: boolean }) {
  const again = useAgain()
  const [stage, setStage] = useState<Stage>()
  const [removing, setRemoving] = useState(false)
  const begin = useWrite(async () => setStage(await unwrap(rest.POST('/user/totp'))))
  return (
    <Card title="Authenticator app" actions={on ? <Badge tone="ok" icon={CircleCheck}>On</Badge> : <Badge icon={CircleMinus}>Off</Badge>}>
      <div className="grid justify-items-start gap-3">
        <p className="text-ink-2">{on ? 'You’re asked for a code after your password.' : 'Asks for a code from an app on your phone after your password, which protects your account if your password is stolen.'}</p>
        {begin.error ? <ErrorAlert error={begin.error} retry={() => void begin.run()} /> : null}
        {on ? <button type="button" className="btn" onClick={() => setRemoving(true)}>Remove app</button> : <button type="button" className="btn" disabled={begin.busy} onClick={() => void begin.run()}><Smartphone aria-hidden />Set up app</button>}
      </div>
      {stage && 'secret' in stage && <Activate {...stage} onClose={() => setStage(undefined)} activated={(codes) => { setStage({ codes }); void again() }} />}
      {stage && 'codes' in stage && (
        <Dialog title="Your recovery codes" onClose={() => setStage(undefined)} actions={<button type="button" className="btn primary" onClick={() => setStage(undefined)}>I’ve saved them</button>}>
          <p className="rounded-control bg-warn-soft px-3 py-2 text-warn">Copy them now. You won’t be able to see them again.</p>
          <p className="text-ink-2">Each works once instead of a code, for example if you lose your phone.</p>
          <CodeBlock text={stage.codes.join('\n')} />
        </Dialog>
      )}
      {removing && (
        <ConfirmDialog title="Remove the authenticator app?" label="Remove app" danger onClose={() => setRemoving(false)} run={async () => { await unwrap(rest.DELETE('/user/totp')); await again(); toast.success('Authenticator app removed') }}>
          Its recovery codes stop working too. If your team requires 2FA, you lose access to it until you set up 2FA again.
        </ConfirmDialog>
      )}
    </Card>
  )
}

function Activate({ secret, uri, onClose, activated }: { secret: string; uri: string; onClose: () => void; activated: (codes: string[]) => void }) {
  const check = useWrite(async (code: string) => activated((await unwrap(rest.POST('/user/totp/activate', { body: { code } }))).recovery_codes))
  function submit(e: FormEvent<HTMLFormElement>) {
    e.preventDefault()
    void check.run(String(new FormData(e.currentTarget).get('code')).replace(/\s/g, ''))
  }
  return (
    <Dialog title="Set up an authenticator app" onClose={onClose}>
      <form onSubmit={submit} className="grid gap-3">
        <ol className="grid list-decimal gap-2 pl-5 text-ink-2">
          <li>
            Scan this code with the app:
            <span className="my-2 block size-44 rounded-control bg-sunken"><Suspense fallback={null}><QrCode text={uri} label="QR code for the authenticator app" /></Suspense></span>
            Or enter this key{' '}<span className="flex items-center gap-1 rounded-control bg-sunken px-2 py-1 text-ink"><code className="min-w-0 flex-1 wrap-anywhere select-all">{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code><CopyButton text={secret} label="Copy key" /></span>
            On your phone: <a className="link under" href={uri}>open the app with this key</a>.
          </li>
          <li>Enter the six digits that the app shows.</li>
        </ol>
        <Field label="Code" error={check.fieldErrors.code}>{(p) => <input {...p} name="code" inputMode="numeric" autoComplete="one-time-code" pattern="[0-9 ]{6,7}" title="Six digits" required className="input max-w-40 font-mono" />}</Field>
        {check.error && !check.fieldErrors.code ? <ErrorAlert error={check.error} /> : null}
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>Cancel</button>
          <button type="submit" className="btn primary" disabled={check.busy}>Turn on</button>
        </div>
      </form>
    </Dialog>
  )
}
