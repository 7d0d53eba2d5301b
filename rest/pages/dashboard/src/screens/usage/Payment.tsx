import { useQueryClient } from '@tanstack/react-query'
import { CircleAlert, CircleCheck, CreditCard, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { ConfirmDialog } from '@/parts/ConfirmDialog'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Field, useWrite } from '@/parts/Form'
import { Card, Detail, DetailList } from '@/parts/Page'
import { dayOf } from './money'
import type { BillingNowQuery } from './queries.gen'

type Billing = BillingNowQuery['billing']

// Payment shows the payer, the card and its problems.
export function Payment({ billing: b, plans }: { billing: Billing; plans: BillingNowQuery['plans'] }) {
  const { can } = useViewer()
  const client = useQueryClient()
  const [keeping, setKeeping] = useState(false)
  const again = () => client.invalidateQueries({ queryKey: ['BillingNow'] })
  const leave = useWrite(async (where: 'card' | 'portal') => {
    const { url } = where === 'card' ? await unwrap(rest.POST('/billing/payment-method', { body: {} })) : await unwrap(rest.POST('/billing/portal', { body: {} }))
    location.assign(url)
  })
  const sync = useWrite(async () => {
    await unwrap(rest.POST('/billing/sync'))
    await again()
    toast.success('Updated from the payment provider')
  })
  const email = useWrite(async (billing_email: string) => {
    await unwrap(rest.PATCH('/billing', { body: { billing_email } }))
    await again()
    toast.success(`Invoices will be sent to ${billing_email}`)
  })
  const may = can('BILLING')
  const next = plans.find((p) => p.id === b.pendingPlan)?.name ?? b.pendingPlan
  return (
    <Card
      title="Payment"
      actions={may && <><button type="button" className="btn sm" disabled={sync.busy} onClick={() => void sync.run()}>Refresh from provider</button><button type="button" className="btn sm" disabled={leave.busy} onClick={() => void leave.run('portal')}>Cards and tax IDs</button></>}
    >
      <div className="grid gap-4">
        {b.problems.map((p) => <p key={p} role="alert" className="flex gap-2 rounded-control bg-warn-soft px-3 py-2 text-warn"><TriangleAlert aria-hidden className="mt-0.5" />{p}</p>)}
        {leave.error || sync.error ? <ErrorAlert error={leave.error ?? sync.error} /> : null}
        {b.pendingPlan && (
          <p className="flex flex-wrap items-center gap-2 rounded-control bg-sunken px-3 py-2">{b.plan.name} changes to {next} on {dayOf(b.pendingAt)}.{may && <button type="button" className="btn sm ml-auto" onClick={() => setKeeping(true)}>Stay on {b.plan.name}</button>}</p>
        )}
        <DetailList>
          <Detail name="Mode">{b.mode === 'test' && <Badge tone="warn" icon={TriangleAlert}>Test mode: no real payments</Badge>}</Detail>
          <Detail name="Subscription">{status(b)}</Detail>
          <Detail name="Card">{b.paymentMethod ? <span className="inline-flex items-center gap-1.5"><CreditCard aria-hidden />{b.paymentMethod.brand} •••• {b.paymentMethod.last4}{b.paymentMethod.expMonth > 0 && <span className="text-ink-3">expires {b.paymentMethod.expMonth}/{b.paymentMethod.expYear}</span>}</span> : <span className="flex flex-wrap items-center gap-2">None on file{may && <button type="button" className="btn sm" disabled={leave.busy} onClick={() => void leave.run('card')}>Add a card</button>}</span>}</Detail>
          <Detail name="Period">{dayOf(b.currentPeriodStart)} – {dayOf(b.currentPeriodEnd)}</Detail>
          <Detail name="Ends">{dayOf(b.cancelAt)}</Detail>
          <Detail name="Sending to others">{b.production.unlocked ? <Badge tone="ok" icon={CircleCheck}>Allowed</Badge> : <Badge tone="warn" icon={CircleAlert}>Only to your own address. To change this: {[!b.production.verifiedDomain && 'verify a domain', !b.production.paymentMethod && 'add a card'].filter(Boolean).join(', ')}</Badge>}</Detail>
          {!may && <Detail name="Invoice email">{b.billingEmail}</Detail>}
        </DetailList>
        {may && (
          <form key={b.billingEmail} className="flex max-w-[480px] flex-wrap items-end gap-2" onSubmit={(e) => { e.preventDefault(); void email.run(String(new FormData(e.currentTarget).get('email')).trim()) }}>
            <div className="min-w-0 flex-1"><Field label="Send invoices to" error={email.fieldErrors.billing_email}>{(p) => <input {...p} name="email" type="email" required defaultValue={b.billingEmail} className="input" />}</Field></div>
            <button type="submit" className="btn !h-[34px]" disabled={email.busy}>Save</button>
          </form>
        )}
        {email.error && !email.fieldErrors.billing_email ? <ErrorAlert error={email.error} /> : null}
      </div>
      {keeping && <ConfirmDialog title={`Stay on ${b.plan.name}?`} label={`Stay on ${b.plan.name}`} onClose={() => setKeeping(false)} run={async () => { await unwrap(rest.DELETE('/billing/plan/pending')); await again() }}>The change to {next} is cancelled, and your current plan continues.</ConfirmDialog>}
    </Card>
  )
}

function status({ status: s }: Billing) {
  if (s === 'active' || s === 'trialing') return <Badge tone="ok" icon={CircleCheck}>{s === 'active' ? 'Active' : 'On trial'}</Badge>
  if (s === 'none') return <Badge>None</Badge>
  return <Badge tone="bad" icon={CircleAlert}>{s.replaceAll('_', ' ')}</Badge>
}
