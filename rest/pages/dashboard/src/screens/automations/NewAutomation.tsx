import { useNavigate } from '@tanstack/react-router'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { keyOf } from '@/api/graphql'
import { unwrap, newIdempotencyKey, rest } from '@/api/rest'
import type { components } from '@/api/rest.gen'
import { useViewer } from '@/app/viewer'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { Automations } from './automations.gen'
import { recipes } from './model/made'

// NewAutomation creates a draft from an example.
export function NewAutomation({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const client = useQueryClient()
  const { development } = useViewer()
  const [name, setName] = useState(recipes[0]?.name ?? '')
  const [kind, setKind] = useState(recipes[0]?.key ?? '')
  const recipe = recipes.find((r) => r.key === kind) ?? recipes[0]
  const [event, setEvent] = useState(recipe?.event ?? '')
  const [from, setFrom] = useState(development ? `Postrider <hello@${development.domain}>` : '')
  const once = useRef(newIdempotencyKey())
  const edit = (set: (v: string) => void) => (e: { target: { value: string } }) => { once.current = newIdempotencyKey(); set(e.target.value) }
  const write = useWrite(async () => {
    const body = { name: name.trim(), ...recipe?.doc(from.trim(), event.trim()) } as unknown as components['schemas']['CreateAutomation']
    const { automation } = await unwrap(rest.POST('/automations', { params: { header: { 'Idempotency-Key': once.current } }, body }))
    void client.invalidateQueries({ queryKey: keyOf(Automations) })
    void navigate({ to: `/automations/${automation.id}` as string })
  })
  return (
    <Dialog title="New automation" wide onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="submit" form="new-automation" className="btn primary" disabled={write.busy || !name.trim() || !event.trim() || !from.trim()}>Create draft</button></>}>
      <form id="new-automation" className="grid gap-3" onSubmit={(e) => { e.preventDefault(); void write.run() }}>
        <fieldset className="grid gap-2"><legend className="mb-1 font-medium">Start from</legend>
          <div className="grid gap-2 sm:grid-cols-2">
            {recipes.map((r) => (
              <label key={r.key} className="flex cursor-pointer items-start gap-2 rounded-card border border-line p-2.5 hover:border-line-strong has-checked:border-accent has-checked:shadow-[0_0_0_1px_var(--color-accent)] has-focus-visible:outline-2 has-focus-visible:outline-accent">
                <input type="radio" name="recipe" className="mt-0.5 accent-accent-fill" checked={r.key === kind} onChange={() => { once.current = newIdempotencyKey(); setKind(r.key); setEvent(r.event); if (name === '' || recipes.some((o) => o.name === name)) setName(r.name) }} />
                <span className="grid gap-0.5"><span className="font-medium">{r.name}</span><span className="text-xs text-ink-2">{r.about}</span></span>
              </label>
            ))}
          </div>
        </fieldset>
        <Field label="Name" error={write.fieldErrors.name}>{(p) => <input {...p} className="input" autoFocus value={name} onChange={edit(setName)} />}</Field>
        <Field label="Trigger event" hint="The event name your app sends to POST /events." error={write.fieldErrors['trigger.event']}>{(p) => <input {...p} className="input font-mono" value={event} onChange={edit(setEvent)} />}</Field>
        <Field label="From" hint="Must be on a verified domain, such as Ada <ada@example.com>.">{(p) => <input {...p} className="input" value={from} onChange={edit(setFrom)} />}</Field>
        {write.error !== null && <ErrorAlert error={write.error} retry={() => void write.run()} />}
        <p className="text-xs text-ink-3">Nothing runs until you activate it.</p>
      </form>
    </Dialog>
  )
}
