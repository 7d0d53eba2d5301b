import { useState, type FormEvent } from 'react'
import { unwrap, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { toast } from '@/app/toasts'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { purposeOf } from './look'
import type { Domain } from './Page'
import { providers, type Provider } from './providers'
import { useProvider } from './zone'

type Applied = components['schemas']['DnsApplied']

const isProvider = (name: string | null | undefined): name is Provider => name !== null && name !== undefined && name in providers

// Publish creates the records at a DNS provider: first as a dry run, then permanently. The credentials stay in
// this dialog. A DMARC record replaces the existing one, and is then the only record that is published.
export function Publish({ domain, dmarc, onClose, read }: { domain: Pick<Domain, 'id'>; dmarc?: string; onClose: () => void; read: () => Promise<unknown> }) {
  const found = useProvider(domain.id)
  const [chosen, setChosen] = useState<Provider>()
  const provider = chosen ?? (isProvider(found.data?.name) ? found.data.name : 'cloudflare')
  const [values, setValues] = useState<Record<string, string>>({})
  const [plan, setPlan] = useState<Applied>()
  const apply = useWrite((dry_run: boolean) => {
    const credentials = Object.fromEntries(providers[provider].fields.map((f) => [f.name, values[f.name]?.trim() ?? '']).filter(([, v]) => v))
    return unwrap(rest.POST('/domains/{id}/dns-records/apply', { params: { path: { id: domain.id } }, body: { provider, credentials, dry_run, dmarc_record: dmarc } }))
  })
  async function dryRun(e: FormEvent) {
    e.preventDefault()
    setPlan(await apply.run(true))
  }
  async function publish() {
    const answer = await apply.run(false)
    if (!answer) return
    setPlan(answer)
    toast.success(answer.applied.length === 1 ? 'Record published' : `${answer.applied.length} records published`)
    await read()
  }
  const finished = plan && !plan.dry_run
  return (
    <Dialog wide title={dmarc ? 'Publish DMARC policy' : 'Publish to DNS provider'} onClose={onClose}>
      {!finished && (
        <form onSubmit={(e) => void dryRun(e)} className="grid gap-4">
          <p className="text-ink-2">
            {found.isPending ? 'Detecting your DNS provider…' : found.data?.name ? <>The zone <code>{found.data.zone}</code> is hosted by <b className="font-medium">{found.data.name}</b>.</> : 'We couldn’t detect your DNS provider. Choose one.'} A dry run writes nothing. Credentials are used for one request and never stored.
          </p>
          {dmarc && <p>This record replaces the existing DMARC record: <code className="text-xs wrap-anywhere">{dmarc}</code></p>}
          <Field label="Provider">
            {(p) => <select {...p} className="input" value={provider} onChange={(e) => { setChosen(e.target.value as Provider); setValues({}); setPlan(undefined); apply.clear() }}>{(Object.keys(providers) as Provider[]).map((k) => <option key={k} value={k}>{providers[k].name}</option>)}</select>}
          </Field>
          {providers[provider].fields.map((f) => (
            <Field key={f.name} label={f.optional ? <>{f.label} <span className="font-normal text-ink-3">(optional)</span></> : f.label} hint={f.hint} error={apply.fieldErrors[`credentials.${f.name}`]}>
              {(p) => <input {...p} className="input" type={f.open ? 'text' : 'password'} autoComplete="off" spellCheck={false} required={!f.optional} value={values[f.name] ?? ''} onChange={(e) => { setValues({ ...values, [f.name]: e.target.value }); setPlan(undefined) }} />}
            </Field>
          ))}
          {apply.error !== null && <ErrorAlert error={apply.error} />}
          {plan && <Plan plan={plan} />}
          <div className="flex flex-wrap justify-end gap-2">
            <button type="button" className="btn" onClick={onClose}>Cancel</button>
            <button type="submit" className={`btn ${plan ? '' : 'primary'}`} disabled={apply.busy}>{apply.busy ? 'Checking…' : 'Dry run'}</button>
            {plan && plan.applied.length > 0 && <button type="button" className="btn primary" disabled={apply.busy} onClick={() => void publish()}>Publish {plan.applied.length} {plan.applied.length === 1 ? 'record' : 'records'}</button>}
          </div>
        </form>
      )}
      {finished && (
        <>
          <Plan plan={plan} />
          <p className="text-ink-2">Name servers can take a few minutes to update. Then select “Verify now”.</p>
          <div className="flex justify-end"><button type="button" className="btn primary" onClick={onClose}>Close</button></div>
        </>
      )}
    </Dialog>
  )
}

function Plan({ plan }: { plan: Applied }) {
  return (
    <div role="status" className="grid gap-3">
      <Part title={plan.dry_run ? 'Will be written' : 'Written'} changes={plan.applied} mark="+" />
      <Part title="Conflicting records, left unchanged" changes={plan.conflicts} mark="!" />
      <Part title="Already published" changes={plan.unchanged} mark="=" />
      {plan.applied.length === 0 && <p className="text-ink-2">Nothing to write.</p>}
    </div>
  )
}

function Part({ title, changes, mark }: { title: string; changes: Applied['applied']; mark: '+' | '!' | '=' }) {
  if (changes.length === 0) return null
  return (
    <section className="grid gap-1">
      <h3 className="font-medium">{title} ({changes.length})</h3>
      <ul className="grid gap-1.5">
        {changes.map((c) => (
          <li key={`${c.purpose} ${c.name} ${c.value}`}>
            <p className="text-xs text-ink-2">{purposeOf(c.purpose).name} · {c.type} <code className="wrap-anywhere">{c.name}</code></p>
            {mark === '+' && c.before.map((b) => !c.after.includes(b) && <p key={b} className="smtp bad">− {b}</p>)}
            {mark === '!' && c.before.map((b) => <p key={b} className="smtp warn">{b}</p>)}
            {mark === '+' && c.after.map((a) => !c.before.includes(a) && <p key={a} className="smtp ok">+ {a}</p>)}
            {c.reason && <p className="mt-1 text-warn">{c.reason}</p>}
          </li>
        ))}
      </ul>
    </section>
  )
}
