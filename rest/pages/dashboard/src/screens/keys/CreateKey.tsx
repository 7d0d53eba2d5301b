import { useState, type FormEvent } from 'react'
import { now } from '@/api/clock'
import { unwrap, rest } from '@/api/rest'
import { CodeBlock } from '@/parts/CodeBlock'
import { useSample } from '@/parts/sample'
import { exportKey, snippet } from '@/parts/snippets'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, keepSecret, OneTimeSecret, useWrite } from '@/parts/Form'
import { DomainChoice, useDomains } from './domains'
import { allPermissions, scopes, type Permission } from './look'
import { ModeField, type Mode } from './Mode'
import { networkErrors, NetworksField, parseNetworks } from './Networks'

type Scope = 'full' | 'sending' | 'read'

const scopeOf = (value: string): Scope => Object.values(scopes).find((s) => s.value === value)?.value ?? 'sending'

const ends = [{ days: 0, name: 'Never' }, { days: 1, name: 'In 1 day' }, { days: 30, name: 'In 30 days' }, { days: 90, name: 'In 90 days' }, { days: 365, name: 'In 1 year' }]

export function CreateKey({ scope: initial = 'sending', onClose, made }: { scope?: string; onClose: () => void; made: () => void }) {
  const domains = useDomains()
  const sample = useSample()
  const [name, setName] = useState('')
  const [scope, setScope] = useState<Scope>(scopeOf(initial))
  const [mode, setMode] = useState<Mode>('live')
  const [days, setDays] = useState(0)
  const [ids, setIds] = useState<string[]>([])
  const [networks, setNetworks] = useState('')
  const [permissions, setPermissions] = useState<Permission[]>([])
  const [secret, setSecret] = useState<string>()
  const create = useWrite(() =>
    unwrap(rest.POST('/api-keys', { body: { name: name.trim(), mode, scope, permissions, domain_ids: scope === 'read' ? null : ids, allowed_ips: parseNetworks(networks), expires_at: days ? new Date(now() + days * 86_400_000).toISOString() : null } })),
  )
  const wrongNetworks = networkErrors(create.fieldErrors, parseNetworks(networks))
  async function submit(e: FormEvent) {
    e.preventDefault()
    const answer = await create.run()
    if (!answer) return
    setSecret(answer.secret)
    made()
  }
  const chosen = domains.find((d) => ids.includes(d.id))?.name
  if (secret) {
    return (
      <Dialog wide keep={keepSecret} title={`API key ${name.trim()}`} onClose={onClose} actions={<button type="button" className="btn primary" onClick={onClose}>I’ve copied it</button>}>
        <OneTimeSecret secret={secret} label="key" />
        <p className="text-ink-2">Set it in your app’s environment, and try it:</p>
        <CodeBlock run="sh" text={`${exportKey(secret)}\n${snippet('curl', location.origin, scope === 'read' ? { path: '/account' } : { path: '/emails', body: { from: chosen ? `hello@${chosen}` : (sample?.from ?? ''), to: [sample?.to ?? ''], subject: 'Hello', text: 'It works.' } })}`} />
      </Dialog>
    )
  }
  return (
    <Dialog wide title="Create API key" onClose={onClose}>
      <form onSubmit={(e) => void submit(e)} className="grid gap-4">
        <Field label="Name" hint="Name the app that will use this key." error={create.fieldErrors.name}>
          {(p) => <input {...p} className="input" value={name} onChange={(e) => setName(e.target.value)} placeholder="web shop" required maxLength={200} autoFocus autoComplete="off" />}
        </Field>
        <ModeField value={mode} onChange={setMode} />
        <fieldset className="grid gap-1.5">
          <legend className="mb-1 font-medium">Scope</legend>
          {Object.values(scopes).map((s) => (
            <label key={s.value} className="flex items-start gap-2"><input type="radio" name="scope" className="mt-1 accent-accent-fill" checked={scope === s.value} onChange={() => setScope(s.value)} /><span>{s.word}<span className="block text-xs text-ink-3">{s.means}</span></span></label>
          ))}
          {create.fieldErrors.scope && <p role="alert" className="text-xs text-bad">{create.fieldErrors.scope}</p>}
        </fieldset>
        <details>
          <summary className="cursor-pointer font-medium">Permissions</summary>
          <p className="mt-2 text-xs text-ink-3">{permissions.length === 0 ? 'If none is selected, the key can do everything that its scope allows.' : 'The key can do only this, within its scope, over REST and SMTP.'}</p>
          <div className="mt-2 grid max-h-[180px] gap-1 overflow-auto rounded-control border border-line p-3 sm:grid-cols-2" tabIndex={0} role="group" aria-label="Permissions">
            {allPermissions.map((p) => (
              <label key={p} className="flex min-w-0 items-center gap-2"><input type="checkbox" className="accent-accent-fill" checked={permissions.includes(p)} onChange={(e) => setPermissions(e.target.checked ? [...permissions, p] : permissions.filter((one) => one !== p))} /><code className="wrap-anywhere">{p}</code></label>
            ))}
          </div>
        </details>
        {scope !== 'read' && <DomainChoice domains={domains} value={ids} onChange={setIds} />}
        <Field label="Expires" error={create.fieldErrors.expires_at}>
          {(p) => <select {...p} className="input max-w-[200px]" value={days} onChange={(e) => setDays(Number(e.target.value))}>{ends.map((x) => <option key={x.days} value={x.days}>{x.name}</option>)}</select>}
        </Field>
        <NetworksField value={networks} onChange={setNetworks} error={wrongNetworks} />
        {create.error !== null && !wrongNetworks && <ErrorAlert error={create.error} />}
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>Cancel</button>
          <button type="submit" className="btn primary" disabled={create.busy}>Create key</button>
        </div>
      </form>
    </Dialog>
  )
}
