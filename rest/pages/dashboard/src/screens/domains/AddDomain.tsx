import { useNavigate } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { ApiError } from '@/api/errors'
import { unwrap, rest } from '@/api/rest'
import { useViewer } from '@/app/viewer'
import { toast } from '@/app/toasts'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { Claim, type ClaimRecord } from './Claim'
import { DomainList } from './queries.gen'

// AddDomain adds a domain, or offers a claim if another account has it.
const domainShape = /^[^\s.@/]+(\.[^\s.@/]+)+$/

export function AddDomain({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { has } = useViewer()
  const [name, setName] = useState('')
  const [inbound, setInbound] = useState(false)
  const [claim, setClaim] = useState<ClaimRecord>()
  const add = useWrite(() => unwrap(rest.POST('/domains', { body: { name: name.trim(), inbound_enabled: inbound } })))
  const start = useWrite(() => unwrap(rest.POST('/domains/claims', { body: { name: name.trim() } })))

  async function submit(e: FormEvent) {
    e.preventDefault()
    start.clear()
    const made = await add.run()
    if (!made) return
    void queries.invalidateQueries({ queryKey: [DomainList.name] })
    toast.success(`${made.domain.name} added`)
    onClose()
    void navigate({ to: `/domains/${made.domain.id}` })
  }
  if (claim) return <Claim claim={claim} onClose={onClose} />
  const taken = add.error instanceof ApiError && add.error.status === 409
  const error = start.error ?? add.error
  return (
    <Dialog title="Add a domain" onClose={onClose}>
      <form onSubmit={(e) => void submit(e)} className="grid gap-4">
        <Field label="Name" hint="The domain in your From addresses, such as example.com or mail.example.com." error={add.fieldErrors.name && !domainShape.test(name.trim()) ? 'Enter a valid domain, such as example.com' : add.fieldErrors.name}>
          {(p) => <input {...p} className="input" value={name} onChange={(e) => { setName(e.target.value); add.clear() }} placeholder="example.com" autoFocus required autoComplete="off" autoCapitalize="none" spellCheck={false} />}
        </Field>
        {has('inbound') && (
          <label className="flex items-start gap-2">
            <input type="checkbox" checked={inbound} onChange={(e) => setInbound(e.target.checked)} className="mt-1 accent-accent-fill" />
            <span>Receive email for this domain<span className="block text-xs text-ink-3">Adds an MX record. Don’t enable this if its mailboxes are hosted elsewhere.</span></span>
          </label>
        )}
        {error !== null && Object.keys(add.fieldErrors).length === 0 && <ErrorAlert error={error} />}
        {taken && (
          <div className="grid gap-2 text-ink-2">
            <p>If another account has this domain and you control its DNS, you can claim it.</p>
            <button type="button" className="btn justify-self-start" disabled={start.busy} onClick={() => void start.run().then((made) => made && setClaim(made.claim))}>Claim domain</button>
          </div>
        )}
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>Cancel</button>
          <button type="submit" className="btn primary" disabled={add.busy}>{add.busy ? 'Adding…' : 'Add domain'}</button>
        </div>
      </form>
    </Dialog>
  )
}
