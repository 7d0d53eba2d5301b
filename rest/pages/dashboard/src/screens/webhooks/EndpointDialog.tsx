import { useState, type FormEvent } from 'react'
import { unwrap, rest } from '@/api/rest'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, keepSecret, OneTimeSecret, useWrite } from '@/parts/Form'
import { EventChoice } from './EventChoice'
import { FilterFields } from './Filter'
import { errorsOf, filterBody, headersText, parseHeaders, toFilter } from './filterForm'
import { eventTypes, type EventType } from './events'
import type { WebhookRowFragment } from './queries.gen'

// EndpointDialog creates or edits an endpoint, and shows the secret of a new one.
export function EndpointDialog({ endpoint, onClose, made }: { endpoint?: WebhookRowFragment; onClose: () => void; made: (id: string) => void }) {
  const [url, setUrl] = useState(endpoint?.url ?? '')
  const [limit, setLimit] = useState(endpoint?.rateLimit ? String(endpoint.rateLimit) : '')
  const [events, setEvents] = useState<EventType[]>(endpoint && endpoint.events.length < eventTypes.length ? eventTypes.filter((t) => endpoint.events.includes(t)) : [])
  const [description, setDescription] = useState(endpoint?.description ?? '')
  const [filter, setFilter] = useState(toFilter(endpoint?.filter ?? null))
  const [headers, setHeaders] = useState(headersText(endpoint?.headers ?? []))
  const [fresh, setFresh] = useState<{ id: string; secret: string }>()
  const save = useWrite(async () => {
    const rate = Number(limit) || 0
    const more = { description: description.trim() || null, filter: filterBody(filter), headers: parseHeaders(headers) }
    if (endpoint) {
      await unwrap(rest.PATCH('/webhooks/{id}', { params: { path: { id: endpoint.id } }, body: { url: url.trim(), events: events.length ? events : null, rate_limit: rate, ...more } }))
      return { id: endpoint.id, secret: '' }
    }
    const answer = await unwrap(rest.POST('/webhooks', { body: { url: url.trim(), events: events.length ? events : null, rate_limit: rate || null, ...more } }))
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
  const wrongFilter = errorsOf(save.fieldErrors, 'filter')
  const wrongHeaders = errorsOf(save.fieldErrors, 'headers')
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
        <Field label={<>Description <span className="font-normal text-ink-3">(optional)</span></>} error={save.fieldErrors.description}>
          {(p) => <input {...p} className="input" value={description} onChange={(e) => setDescription(e.target.value)} placeholder="Order service" maxLength={500} autoComplete="off" />}
        </Field>
        <EventChoice value={events} onChange={setEvents} />
        {save.fieldErrors.events && <p role="alert" className="text-xs text-bad">{save.fieldErrors.events}</p>}
        <details className="grid gap-3" open={Boolean(endpoint?.filter) || wrongFilter !== undefined}>
          <summary className="cursor-pointer font-medium">Filter</summary>
          <div className="mt-2 grid gap-3">
            <p className="text-xs text-ink-3">Of these events, the endpoint receives those that match one entry of each list with a selection. Events without a domain, template, automation or tag don’t match a list of them.</p>
            <FilterFields value={filter} onChange={setFilter} error={wrongFilter} />
          </div>
        </details>
        <Field label={<>Headers <span className="font-normal text-ink-3">(optional)</span></>} hint="One on each line, sent with every request. Values are encrypted and not shown again; ******** keeps the current one." error={wrongHeaders}>
          {(p) => <textarea {...p} className="input min-h-14 font-mono text-xs" rows={2} value={headers} onChange={(e) => setHeaders(e.target.value)} placeholder="Authorization: Bearer …" spellCheck={false} autoComplete="off" />}
        </Field>
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
