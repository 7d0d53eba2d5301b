import { useState } from 'react'
import { now } from '@/api/clock'
import { newIdempotencyKey, unwrap, rest } from '@/api/rest'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, keepSecret, OneTimeSecret, useWrite } from '@/parts/Form'
import { Time } from '@/parts/Time'
import type { ApiKeyRowFragment } from './queries.gen'

const overlaps = [
  { seconds: 0, name: 'No longer' }, { seconds: 3600, name: 'For 1 hour' }, { seconds: 86_400, name: 'For 1 day' }, { seconds: 7 * 86_400, name: 'For 7 days' },
]

// RotateKey replaces a key: the new one has the same name and permissions. The old one works for some more time.
export function RotateKey({ apiKey: k, onClose, changed }: { apiKey: ApiKeyRowFragment; onClose: () => void; changed: () => void }) {
  const [seconds, setSeconds] = useState(86_400)
  const [made, setMade] = useState<{ secret: string; until: string | null }>()
  const [key, setKey] = useState(newIdempotencyKey)
  const rotate = useWrite(() => unwrap(rest.POST('/api-keys/{id}/rotate', { params: { path: { id: k.id }, header: { 'Idempotency-Key': key } }, body: { overlap_seconds: seconds } })))
  async function run() {
    const answer = await rotate.run()
    if (!answer) return
    const until = seconds === 0 ? null : Math.min(now() + seconds * 1000, k.expiresAt ? Date.parse(k.expiresAt) : Infinity)
    setMade({ secret: answer.secret, until: until === null ? null : new Date(until).toISOString() })
    changed()
  }
  if (made) {
    return (
      <Dialog wide keep={keepSecret} title={`New secret of ${k.name}`} onClose={onClose} actions={<button type="button" className="btn primary" onClick={onClose}>I’ve copied it</button>}>
        <OneTimeSecret secret={made.secret} label="key" />
        <p className="text-ink-2">Replace the key in your app. The old key, <code>{k.prefix}…</code>, {made.until ? <>works until <Time at={made.until} absolute />.</> : 'no longer works.'}</p>
      </Dialog>
    )
  }
  return (
    <Dialog title={`Rotate ${k.name}?`} onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="button" className="btn primary" disabled={rotate.busy} onClick={() => void run()}>Create new key</button></>}>
      <p className="text-ink-2">Creates a key with the same name, scope, domains, networks and expiry, and a new secret.</p>
      <Field label="Old key works" error={rotate.fieldErrors.overlap_seconds}>
        {(p) => <select {...p} className="input max-w-[200px]" value={seconds} onChange={(e) => { setSeconds(Number(e.target.value)); setKey(newIdempotencyKey()) }}>{overlaps.map((o) => <option key={o.seconds} value={o.seconds}>{o.name}</option>)}</select>}
      </Field>
      {rotate.error !== null && <ErrorAlert error={rotate.error} />}
    </Dialog>
  )
}
