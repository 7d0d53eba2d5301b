import { useState } from 'react'
import { toast } from '@/app/toasts'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { useChanges, type Plan, type PlanChange } from './data'

// The change is written by REST, in whose names fields are wrong too.
type Numbers = 'monthly_emails' | 'daily_emails' | 'daily_sms' | 'included_emails' | 'max_domains' | 'requests_per_second' | 'rank'
type Flags = 'self_service' | 'overage' | 'sandboxed'

const numbers: { key: Numbers; of: (p: Plan) => number | null; label: string; empty?: string }[] = [
  { key: 'monthly_emails', of: (p) => p.monthlyEmails, label: 'Emails per month', empty: 'unlimited' },
  { key: 'daily_emails', of: (p) => p.dailyEmails, label: 'Emails per day', empty: 'unlimited' },
  { key: 'daily_sms', of: (p) => p.dailySMS, label: 'Text messages per day', empty: 'unlimited' },
  { key: 'included_emails', of: (p) => p.includedEmails, label: 'Included emails', empty: 'not shown' },
  { key: 'max_domains', of: (p) => p.maxDomains, label: 'Domains' },
  { key: 'requests_per_second', of: (p) => p.requestsPerSecond, label: 'API requests per second' },
  { key: 'rank', of: (p) => p.rank, label: 'Rank' },
]

const flags: { key: Flags; of: (p: Plan) => boolean; label: string }[] = [
  { key: 'self_service', of: (p) => p.selfService, label: 'Customers can choose it' },
  { key: 'overage', of: (p) => p.overage, label: 'Emails beyond the included ones are sent and charged' },
  { key: 'sandboxed', of: (p) => p.sandboxed, label: 'Accounts can send only to themselves until they have a domain and a payment method' },
]

const optional = new Set<Numbers>(numbers.filter((n) => n.empty).map((n) => n.key))

export function PlanDialog({ plan, onClose }: { plan: Plan; onClose: () => void }) {
  const changes = useChanges()
  const [values, setValues] = useState(() => Object.fromEntries(numbers.map(({ key, of }) => [key, String(of(plan) ?? '')])) as Record<Numbers, string>)
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
          {numbers.map(({ key, label, empty }) => (
            <Field key={key} label={label} hint={empty && `Leave empty: ${empty}`} error={write.fieldErrors[key]}>
              {(f) => <input {...f} className="input" type="number" min={key === 'rank' || key === 'included_emails' ? 0 : 1} required={!empty} value={values[key]} onChange={(e) => setValues({ ...values, [key]: e.target.value })} />}
            </Field>
          ))}
        </div>
        {flags.map(({ key, label }) => <label key={key} className="flex items-center gap-2"><input type="checkbox" className="accent-accent-fill" checked={set[key]} onChange={(e) => setSet({ ...set, [key]: e.target.checked })} />{label}</label>)}
        {write.error !== null && <ErrorAlert error={write.error} retry={() => void go()} />}
      </form>
    </Dialog>
  )
}

// changeOf is what differs from the plan as it is.
function changeOf(plan: Plan, name: string, values: Record<Numbers, string>, set: Record<Flags, boolean>): PlanChange {
  const change: PlanChange = {}
  if (name !== plan.name) change.name = name
  for (const { key, of } of numbers) {
    const value = values[key].trim() === '' ? null : Number(values[key])
    if (value === of(plan) || (value === null && !optional.has(key))) continue
    Object.assign(change, { [key]: value })
  }
  for (const { key, of } of flags) if (set[key] !== of(plan)) change[key] = set[key]
  return change
}
