import { useNavigate } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { keyOf } from '@/api/graphql'
import { done, onceKey, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { useViewer } from '@/app/viewer'
import { Dialog } from '@/parts/Dialog'
import { Failure } from '@/parts/Failure'
import { Field, useWrite } from '@/parts/Form'
import { Automations } from './automations.gen'

type Definition = components['schemas']['CreateAutomation']

const recipes: { key: string; name: string; event: string; steps: (from: string) => Definition['steps'] }[] = [
  {
    key: 'welcome', name: 'Welcome: two emails, three days apart', event: 'user.created',
    steps: (from) => [
      { key: 'hello', type: 'send_email', from, subject: 'Welcome', text: 'Hello {{ event.data.name }}.' },
      { key: 'pause', type: 'delay', duration: 'P3D' },
      { key: 'tips', type: 'send_email', from, subject: 'Three things to try', text: 'Write your tips here.' },
    ],
  },
  {
    key: 'reminder', name: 'Reminder: wait for an event, write if it does not come', event: 'user.created',
    steps: (from) => [
      { key: 'verified', type: 'wait_for_event', event: 'user.verified', timeout: 'P1D', on_event: 'end' },
      { key: 'remind', type: 'send_email', from, subject: 'Please verify your address', text: 'Hello {{ event.data.name }}.' },
    ],
  },
  { key: 'one', name: 'One email', event: 'order.paid', steps: (from) => [{ key: 'receipt', type: 'send_email', from, subject: 'Thank you', text: 'We have your order.' }] },
]

// NewAutomation makes a draft from an example.
export function NewAutomation({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const client = useQueryClient()
  const { development } = useViewer()
  const [name, setName] = useState('')
  const [kind, setKind] = useState(recipes[0]?.key ?? '')
  const recipe = recipes.find((r) => r.key === kind) ?? recipes[0]
  const [event, setEvent] = useState(recipe?.event ?? '')
  const [from, setFrom] = useState(development ? `Postrider <hello@${development.domain}>` : '')
  const once = useRef(onceKey())
  const edit = (set: (v: string) => void) => (e: { target: { value: string } }) => { once.current = onceKey(); set(e.target.value) }
  const write = useWrite(async () => {
    const body = { name: name.trim(), trigger: { event: event.trim(), re_entry: 'once' as const }, steps: recipe?.steps(from.trim()) ?? [] }
    const { automation } = await done(rest.POST('/automations', { params: { header: { 'Idempotency-Key': once.current } }, body }))
    void client.invalidateQueries({ queryKey: keyOf(Automations) })
    void navigate({ to: `/automations/${automation.id}` as string })
  })
  return (
    <Dialog title="New automation" onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Back</button><button type="submit" form="new-automation" className="btn primary" disabled={write.busy || !name.trim() || !event.trim() || !from.trim()}>Create the draft</button></>}>
      <form id="new-automation" className="grid gap-3" onSubmit={(e) => { e.preventDefault(); void write.run() }}>
        <Field label="Name" wrong={write.wrong.name}>{(p) => <input {...p} className="input" autoFocus value={name} onChange={edit(setName)} />}</Field>
        <Field label="Begin with">{(p) => (
          <select {...p} className="input" value={kind} onChange={(e) => { once.current = onceKey(); setKind(e.target.value); setEvent(recipes.find((r) => r.key === e.target.value)?.event ?? event) }}>{recipes.map((r) => <option key={r.key} value={r.key}>{r.name}</option>)}</select>
        )}</Field>
        <Field label="Event that starts it" hint="As your program names it in POST /events." wrong={write.wrong['trigger.event']}>{(p) => <input {...p} className="input font-mono" value={event} onChange={edit(setEvent)} />}</Field>
        <Field label="From" hint="On a verified domain, as Ada <ada@example.com>.">{(p) => <input {...p} className="input" value={from} onChange={edit(setFrom)} />}</Field>
        {write.error !== null && <Failure error={write.error} retry={() => void write.run()} />}
        <p className="text-xs text-ink-3">It starts nothing until you activate it.</p>
      </form>
    </Dialog>
  )
}
