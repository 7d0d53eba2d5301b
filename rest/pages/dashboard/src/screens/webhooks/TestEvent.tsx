import { useState, type FormEvent } from 'react'
import { unwrap, rest } from '@/api/rest'
import { useSearchParams } from '@/app/searchParams'
import { toast } from '@/app/toasts'
import { CodeBlock } from '@/parts/CodeBlock'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { eventTypes, type EventType } from './events'
import type { WebhookRowFragment } from './queries.gen'

// TestEvent sends a sample event, or previews it.
export function TestEvent({ endpoint, onClose, sent }: { endpoint: WebhookRowFragment; onClose: () => void; sent: () => void }) {
  const [, change] = useSearchParams()
  const types = eventTypes.filter((t) => endpoint.events.includes(t))
  const [type, setType] = useState<EventType>(types.includes('email.delivered') ? 'email.delivered' : (types[0] ?? 'email.delivered'))
  const [email, setEmail] = useState('')
  const [look, setLook] = useState<string>()
  const test = useWrite((deliver: boolean) => unwrap(rest.POST('/emails/test', { body: { event: type, deliver, email_id: email.trim() || null, webhook_id: deliver ? endpoint.id : null } })))
  async function submit(e: FormEvent) {
    e.preventDefault()
    const answer = await test.run(true)
    if (!answer) return
    sent()
    toast.success('Test event queued')
    onClose()
    const only = answer.deliveries.length === 1 ? answer.deliveries[0] : undefined
    change({ open: only, state: undefined })
  }
  return (
    <Dialog wide title="Send a test event" onClose={onClose}>
      <form onSubmit={(e) => void submit(e)} className="grid gap-4">
        <p className="text-ink-2">Sends a sample to this endpoint only, marked as a test in its deliveries. Nothing else happens.</p>
        <Field label="Event" error={test.fieldErrors.event}>
          {(p) => <select {...p} className="input" value={type} onChange={(e) => { setType(e.target.value as EventType); setLook(undefined) }}>{types.map((t) => <option key={t}>{t}</option>)}</select>}
        </Field>
        <Field label={<>Email ID <span className="font-normal text-ink-3">(optional)</span></>} hint="Uses its values instead of sample ones. The email itself isn’t affected." error={test.fieldErrors.email_id}>
          {(p) => <input {...p} className="input" value={email} onChange={(e) => { setEmail(e.target.value); setLook(undefined) }} placeholder="msg_…" spellCheck={false} autoComplete="off" />}
        </Field>
        {look && <CodeBlock title="Body" text={look} max="max-h-[260px]" />}
        {test.error !== null && Object.keys(test.fieldErrors).length === 0 && <ErrorAlert error={test.error} />}
        <div className="flex flex-wrap justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>Cancel</button>
          <button type="button" className="btn" disabled={test.busy} onClick={() => void test.run(false).then((a) => a && setLook(JSON.stringify(a.event, null, 2)))}>Preview body</button>
          <button type="submit" className="btn primary" disabled={test.busy || types.length === 0}>Send test event</button>
        </div>
      </form>
    </Dialog>
  )
}
