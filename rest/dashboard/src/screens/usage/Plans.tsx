import { useQueryClient } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import { unwrap, rest } from '@/api/rest'
import { toast } from '@/app/toasts'
import { useViewer } from '@/app/viewer'
import { Badge } from '@/parts/Badge'
import { Card } from '@/parts/Page'
import { ChangeDialog } from './ChangeDialog'
import { count, money } from './money'
import type { BillingNowQuery } from './queries.gen'

export type Plan = BillingNowQuery['plans'][number]
type Billing = BillingNowQuery['billing']

// Plans are those that can be chosen, from the least to the greatest.
export function Plans({ plans, billing }: { plans: Plan[]; billing: Billing }) {
  const { can } = useViewer()
  const client = useQueryClient()
  const [wanted, setWanted] = useState<Plan>()
  const [busy, setBusy] = useState('')
  const at = plans.findIndex((p) => p.current)
  const mayChange = billing.enabled && can('BILLING')

  async function choose(plan: Plan) {
    if (billing.status !== 'none' || !plan.price) return setWanted(plan)
    setBusy(plan.id)
    try {
      const page = await unwrap(rest.POST('/billing/checkout', { body: { plan: plan.id } }))
      location.assign(page.url)
    } catch (error) {
      toast.error(error)
      setBusy('')
    }
  }

  return (
    <Card title="Plans" padded={false} footer={billing.enabled ? <span>Up holds at once, down at the end of the period.</span> : <span>Payments are off in this installation: its operator gives plans.</span>}>
      <ul className="grid gap-px bg-line lg:grid-cols-[repeat(auto-fit,minmax(168px,1fr))]">
        {plans.map((p, i) => (
          <li key={p.id} className={`grid content-start gap-1 p-4 ${p.current ? 'bg-accent-soft' : 'bg-surface'}`}>
            <h3 className="flex flex-wrap items-center gap-2">{p.name}{p.current && <Badge tone="info" icon={CircleCheck}>Yours</Badge>}{billing.pendingPlan === p.id && <Badge>Comes next</Badge>}</h3>
            {p.price && <p className="text-xl font-semibold">{money(p.price.amount, p.price.currency)}<span className="text-xs font-normal text-ink-3"> a {p.priceInterval ?? 'month'}</span></p>}
            <ul className="text-xs text-ink-2">
              {p.includedEmails !== null && <li>{count(p.includedEmails)} emails a month included</li>}
              <li>{p.limits.monthlyEmails === null ? 'No cap by month' : `At most ${count(p.limits.monthlyEmails)} emails a month`}</li>
              {p.limits.dailyEmails !== null && <li>At most {count(p.limits.dailyEmails)} a day</li>}
              {p.overagePrice && <li>{money(p.overagePrice.amount, p.overagePrice.currency)} for 1,000 more</li>}
              <li>{count(p.limits.maxDomains)} {p.limits.maxDomains === 1 ? 'domain' : 'domains'}</li>
              <li>{count(p.limits.requestsPerSecond)} requests a second</li>
            </ul>
            {mayChange && !p.current && billing.pendingPlan !== p.id && (
              <button type="button" className="btn mt-2 justify-self-start" disabled={busy !== ''} onClick={() => void choose(p)}>{at >= 0 && i < at ? `Go down to ${p.name}` : `Go up to ${p.name}`}</button>
            )}
          </li>
        ))}
      </ul>
      {wanted && <ChangeDialog plan={wanted} onClose={() => setWanted(undefined)} changed={() => { void client.invalidateQueries({ queryKey: ['BillingNow'] }); void client.invalidateQueries({ queryKey: ['UsageNow'] }); void client.invalidateQueries({ queryKey: ['viewer'] }) }} />}
    </Card>
  )
}
