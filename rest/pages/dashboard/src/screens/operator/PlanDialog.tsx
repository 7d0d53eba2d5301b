import { useState } from 'react'
import { nameInREST, planNumbers, type Plan, type PlanNumber } from '@/api/plan'
import { toast } from '@/app/toasts'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { useChanges, type PlanChange } from './data'

type Values = Record<PlanNumber['field'], string>
type Flags = 'self_service' | 'overage' | 'sandboxed'

const flags: { key: Flags; of: (p: Plan) => boolean; label: string }[] = [
  { key: 'self_service', of: (p) => p.selfService, label: 'Customers can choose it' },
  { key: 'overage', of: (p) => p.overage, label: 'Emails beyond the included volume are sent and charged' },
  { key: 'sandboxed', of: (p) => p.sandboxed, label: 'Accounts can send only to themselves until they have a domain and a payment method' },
]

export function PlanDialog({ plan, onClose }: { plan: Plan; onClose: () => void }) {
  const changes = useChanges()
  const [values, setValues] = useState(() => Object.fromEntries(planNumbers.map(({ field }) => [field, String(plan[field] ?? '')])) as Values)
  const [name, setName] = useState(plan.name)
  const [set, setSet] = useState<Record<Flags, boolean>>({ self_service: plan.selfService, overage: plan.overage, sandboxed: plan.sandboxed })
  const change = changeOf(plan, name, values, set)
  const write = useWrite(async () => {
    await changes.plan(plan.id, change)
    return true
  })
  async function go() {
    if (!(await write.run())) return
    toast.success(`${name} saved`)
    onClose()
  }
  return (
    <Dialog wide title={`Edit ${plan.name}`} onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="submit" form="plan" className="btn primary" disabled={write.busy || Object.keys(change).length === 0}>Save</button></>}>
      <form id="plan" className="grid gap-3" onSubmit={(e) => { e.preventDefault(); void go() }}>
        <p className="text-ink-2">Changes apply immediately to every account on this plan.</p>
        <Field label="Name" error={write.fieldErrors.name}>{(f) => <input {...f} className="input" required value={name} onChange={(e) => setName(e.target.value)} />}</Field>
        <div className="grid gap-3 sm:grid-cols-2">
          {planNumbers.map(({ field, label, empty, min = 1 }) => (
            <Field key={field} label={label} hint={empty && `Leave empty: ${empty}`} error={write.fieldErrors[nameInREST(field)]}>
              {(f) => <input {...f} className="input" type="number" min={min} required={!empty} value={values[field]} onChange={(e) => setValues({ ...values, [field]: e.target.value })} />}
            </Field>
          ))}
        </div>
        {flags.map(({ key, label }) => <label key={key} className="flex items-center gap-2"><input type="checkbox" className="accent-accent-fill" checked={set[key]} onChange={(e) => setSet({ ...set, [key]: e.target.checked })} />{label}</label>)}
        {write.error !== null && <ErrorAlert error={write.error} retry={() => void go()} />}
      </form>
    </Dialog>
  )
}

// changeOf returns the fields that differ from the current plan.
function changeOf(plan: Plan, name: string, values: Values, set: Record<Flags, boolean>): PlanChange {
  const change: PlanChange = {}
  if (name !== plan.name) change.name = name
  for (const { field, empty } of planNumbers) {
    const value = values[field].trim() === '' ? null : Number(values[field])
    if (value === plan[field] || (value === null && !empty)) continue
    Object.assign(change, { [nameInREST(field)]: value })
  }
  for (const { key, of } of flags) if (set[key] !== of(plan)) change[key] = set[key]
  return change
}
