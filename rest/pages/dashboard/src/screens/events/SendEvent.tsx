import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { keyOf, useGraphQL } from '@/api/graphql'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { useViewer } from '@/app/viewer'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { CustomEvents, EventAutomations } from './events.gen'

// SendEvent sends an event, as a program would, and shows its effects.
export function SendEvent({ onClose }: { onClose: () => void }) {
  const { can } = useViewer()
  const client = useQueryClient()
  const names = useGraphQL(EventAutomations, {}, { enabled: can('READ') })
  const known = [...new Set(names.data?.automations.nodes.map((a) => (a.trigger as { event?: string } | null)?.event).filter((n) => n !== undefined))]
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [userId, setUserId] = useState('')
  const [data, setData] = useState('{}')
  const [badData, setBadData] = useState<string>()
  const [receipt, setReceipt] = useState<components['schemas']['EventReceipt'] | null>(null)
  const once = useRef(newIdempotencyKey())
  const edit = (set: (v: string) => void) => (e: { target: { value: string } }) => { once.current = newIdempotencyKey(); setBadData(undefined); set(e.target.value) }
  const write = useWrite(async (parsed: Record<string, unknown>) => {
    const answer = await unwrap(rest.POST('/events', { params: { header: { 'Idempotency-Key': once.current } }, body: { name: name.trim(), email: email.trim() || null, user_id: userId.trim() || null, data: parsed } }))
    once.current = newIdempotencyKey()
    setReceipt(answer)
    void client.invalidateQueries({ queryKey: keyOf(CustomEvents) })
  })
  function send() {
    try {
      const parsed: unknown = JSON.parse(data.trim() || '{}')
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new Error('not an object')
      void write.run(parsed as Record<string, unknown>)
    } catch {
      setBadData('Must be a JSON object, such as {"name": "Bob"}.')
    }
  }
  return (
    <Dialog
      title="Send an event" onClose={onClose}
      actions={receipt
        ? <><button type="button" className="btn" onClick={() => setReceipt(null)}>Send another</button><button type="button" className="btn primary" onClick={onClose}>Close</button></>
        : <><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="submit" form="send-event" className="btn primary" disabled={write.busy || !name.trim()}>Send</button></>}
    >
      {receipt ? (
        <div role="status" className="grid gap-2">
          <p><code>{receipt.event.name}</code> was received. It started {receipt.matched_automations} {receipt.matched_automations === 1 ? 'run' : 'runs'}, resumed {receipt.resumed_runs} {receipt.resumed_runs === 1 ? 'run' : 'runs'} and cancelled {receipt.cancelled_runs} {receipt.cancelled_runs === 1 ? 'run' : 'runs'}.</p>
          <p><Link className="link under" to={`/events/${receipt.event.id}` as string}>View details</Link></p>
        </div>
      ) : (
        <form id="send-event" className="grid gap-3" onSubmit={(e) => { e.preventDefault(); send() }}>
          <Field label="Name" error={write.fieldErrors.name}>{(p) => <input {...p} className="input font-mono" list="event-names" autoFocus placeholder="user.created" value={name} onChange={edit(setName)} />}</Field>
          <datalist id="event-names">{known.map((n) => <option key={n} value={n} />)}</datalist>
          <div className="grid gap-3 sm:grid-cols-2">
            <Field label="Email" error={write.fieldErrors.email}>{(p) => <input {...p} className="input" value={email} onChange={edit(setEmail)} />}</Field>
            <Field label="User ID" error={write.fieldErrors.user_id}>{(p) => <input {...p} className="input" value={userId} onChange={edit(setUserId)} />}</Field>
          </div>
          <Field label="Data" hint="A JSON object. Conditions and content can use it as event.data." error={badData ?? write.fieldErrors.data}>{(p) => <textarea {...p} className="input font-mono" rows={5} spellCheck={false} value={data} onChange={edit(setData)} />}</Field>
          <p className="rounded-control bg-warn-soft px-3 py-2 text-warn">This is a real event: active automations react to it and may send email. To see what would happen without sending, use an automation’s dry run.</p>
          {write.error !== null && <ErrorAlert error={write.error} retry={send} />}
        </form>
      )}
    </Dialog>
  )
}
