import { useState } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import type { ApiKeyRowFragment } from './queries.gen'

// parseNetworks returns the networks of a text with one on each line.
export const parseNetworks = (text: string) => text.split(/[\s,]+/).filter(Boolean)

// networkErrors joins the errors of the list and of its items, whose fields are allowed_ips[0] and so on.
export const networkErrors = (errors: Record<string, string>, networks: string[]) =>
  Object.entries(errors).flatMap(([field, message]) => {
    const item = /^allowed_ips(?:\[(\d+)\])?$/.exec(field)
    return item ? [item[1] ? `${networks[Number(item[1])] ?? ''} ${message}` : message] : []
  }).join('; ') || undefined

// NetworksField is the input for the networks that a key can be used from.
export function NetworksField({ value, onChange, error, autoFocus }: { value: string; onChange: (text: string) => void; error?: string; autoFocus?: boolean }) {
  return (
    <Field label="Allowed networks" hint="One address or network on each line, such as 192.0.2.0/24. If empty, the key can be used from everywhere." error={error}>
      {(p) => <textarea {...p} className="input min-h-16 font-mono text-xs" rows={3} value={value} onChange={(e) => onChange(e.target.value)} autoFocus={autoFocus} autoComplete="off" spellCheck={false} />}
    </Field>
  )
}

// ChangeNetworks changes the networks that a key can be used from.
export function ChangeNetworks({ apiKey: k, onClose, changed }: { apiKey: ApiKeyRowFragment; onClose: () => void; changed: () => void }) {
  const [text, setText] = useState(k.allowedIps.join('\n'))
  const networks = parseNetworks(text)
  const change = useWrite(() => unwrap(rest.PATCH('/api-keys/{id}', { params: { path: { id: k.id } }, body: { allowed_ips: networks } })))
  const wrong = networkErrors(change.fieldErrors, networks)
  async function save() {
    if (!(await change.run())) return
    changed()
    onClose()
    toast.success('Allowed networks saved')
  }
  return (
    <Dialog title={`Networks of ${k.name}`} onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="submit" form="key-networks" className="btn primary" disabled={change.busy}>Save networks</button></>}>
      <form id="key-networks" className="grid gap-3" onSubmit={(e) => { e.preventDefault(); void save() }}>
        <NetworksField value={text} onChange={setText} error={wrong} autoFocus />
        {k.lastUsedIp && <p className="text-xs text-ink-3">The key was last used from <code>{k.lastUsedIp}</code>.</p>}
        {change.error !== null && !wrong && <ErrorAlert error={change.error} />}
      </form>
    </Dialog>
  )
}
