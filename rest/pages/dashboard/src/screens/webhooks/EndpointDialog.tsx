import { useState, type FormEvent } from 'react'
import { unwrap, rest } from '@/api/rest'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, keepSecret, OneTimeSecret, useWrite } from '@/parts/Form'
import { EventChoice } from './EventChoice'
import { eventTypes, type EventType } from './events'
import type { WebhookRowFragment } from './queries.gen'

// EndpointDialog creates or edits an endpoint, and shows the secret of a new one.
export function EndpointDialog({ endpoint, onClose, made }: { endpoint?: WebhookRowFragment; onClose: () => void; made: (id: string) => void }) {
  const [url, setUrl] = useState(endpoint?.url ?? '')
  const [limit, setLimit] = useState(endpoint?.rateLimit ? String(endpoint.rateLimit) : '')
  const [events, setEvents] = useState<EventType[]>(endpoint && endpoint.events.length < eventTypes.length ? eventTypes.filter((t) => endpoint.events.includes(t)) : [])
  const [fresh, setFresh] = useState<{ id: string; secret: string }>()
  const save = useWrite(async () => {
    const rate = Number(limit) || 0
    if (endpoint) {
      await unwrap(rest.PATCH('/webhooks/{id}', { params: { path: { id: endpoint.id } }, body: { url: url.trim(), events: events.length ? events : null, rate_limit: rate } }))
      return { id: endpoint.id, secret: '' }
    }
    const answer = await unwrap(rest.POST('/webhooks', { body: { url: url.trim(), events: events.length ? events : null, rate_limit: rate || null } }))
    return { id: answer.webhook.id, secret: answer.secret }
  })
  async function submit(e: FormEvent) {
    e.preventDefault()
    const answer = await save.run()
    if (!answer) return
    made(answer.id)
    if (answer.secret) setFresh(answer)
    else onClose()
  }
  if (fresh) {
    return (
      <Dialog wide keep={keepSecret} title="Endpoint added" onClose={onClose} actions={<button type="button" className="btn primary" onClick={onClose}>I’ve copied it</button>}>
        <p className="text-ink-2">Every delivery is signed with this secret. Verify <code>webhook-signature</code> or <code>Service-Signature</code> with it before you trust a request.</p>
        <OneTimeSecret secret={fresh.secret} label="secret" />
      </Dialog>
    )
  }
  return (
    <Dialog wide title={endpoint ? 'Edit endpoint' : 'Add an endpoint'} onClose={onClose}>
      <form onSubmit={(e) => void submit(e)} className="grid gap-4">
        <Field label="URL" hint="Must be an https URL at a public address." error={save.fieldErrors.url}>
          {(p) => <input {...p} className="input" type="url" required value={url} onChange={(e) => setUrl(e.target.value)} placeholder="https://example.com/hooks" autoFocus spellCheck={false} autoComplete="off" />}
        </Field>
        <EventChoice value={events} onChange={setEvents} />
        {save.fieldErrors.events && <p role="alert" className="text-xs text-bad">{save.fieldErrors.events}</p>}
        <Field label={<>Deliveries per second <span className="font-normal text-ink-3">(optional)</span></>} hint="Leave empty for no limit." error={save.fieldErrors.rate_limit}>
          {(p) => <input {...p} className="input max-w-[160px]" type="number" min={1} max={1000} value={limit} onChange={(e) => setLimit(e.target.value)} />}
        </Field>
        {save.error !== null && Object.keys(save.fieldErrors).length === 0 && <ErrorAlert error={save.error} />}
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>Cancel</button>
          <button type="submit" className="btn primary" disabled={save.busy}>{save.busy ? 'Saving…' : endpoint ? 'Save' : 'Add endpoint'}</button>
        </div>
      </form>
    </Dialog>
  )
}
