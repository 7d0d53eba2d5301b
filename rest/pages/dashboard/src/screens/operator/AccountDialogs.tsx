import { useState } from 'react'
import { summaryOf } from '@/api/plan'
import { toast } from '@/app/toasts'
import { Dialog } from '@/parts/Dialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { useChanges, usePlans, type Account } from './data'

export function PlanOfAccountDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  const plans = usePlans()
  const changes = useChanges()
  const [plan, setPlan] = useState(account.planId)
  const chosen = plans.data?.find((p) => p.id === plan)
  const write = useWrite(async () => {
    await changes.account(account.id, { plan })
    return true
  })
  async function go() {
    if (!(await write.run())) return
    toast.success(`${account.name || account.email} moved to ${chosen?.name ?? plan}`)
    onClose()
  }
  return (
    <Dialog title="Change plan" onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="submit" form="account-plan" className="btn primary" disabled={write.busy || plan === account.planId}>Change plan</button></>}>
      <form id="account-plan" className="grid gap-3" onSubmit={(e) => { e.preventDefault(); void go() }}>
        {plans.error && <ErrorAlert error={plans.error} retry={() => void plans.refetch()} />}
        <Field label="Plan" error={write.fieldErrors.plan} hint={chosen && summaryOf(chosen)}>
          {(f) => <select {...f} className="input" value={plan} onChange={(e) => setPlan(e.target.value)}>{plans.data?.map((p) => <option key={p.id} value={p.id}>{p.name}</option>)}</select>}
        </Field>
        <p className="text-ink-2">Takes effect immediately. The account is not charged for the change.</p>
        {write.error !== null && <ErrorAlert error={write.error} retry={() => void go()} />}
      </form>
    </Dialog>
  )
}

export function LimitDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  const changes = useChanges()
  const [limit, setLimit] = useState(account.monthlyLimit === null ? '' : String(account.monthlyLimit))
  const write = useWrite(async () => {
    await changes.account(account.id, { monthly_limit: limit.trim() === '' ? null : Number(limit) })
    return true
  })
  async function go() {
    if (!(await write.run())) return
    toast.success('Limit changed')
    onClose()
  }
  return (
    <Dialog title="Set monthly limit" onClose={onClose} actions={<><button type="button" className="btn" onClick={onClose}>Cancel</button><button type="submit" form="account-limit" className="btn primary" disabled={write.busy}>Save</button></>}>
      <form id="account-limit" className="grid gap-3" onSubmit={(e) => { e.preventDefault(); void go() }}>
        <Field label="Emails per month" hint="Leave empty for no custom limit" error={write.fieldErrors.monthly_limit}>{(f) => <input {...f} className="input" type="number" min={0} value={limit} onChange={(e) => setLimit(e.target.value)} />}</Field>
        {write.error !== null && <ErrorAlert error={write.error} retry={() => void go()} />}
      </form>
    </Dialog>
  )
}
