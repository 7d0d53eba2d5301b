import { useQueryClient } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import { planNumbers } from '@/api/plan'
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

// Plans lists the plans that can be chosen, in ascending order.
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
    <Card title="Plans" padded={false} footer={billing.enabled ? <span>Upgrades take effect immediately, downgrades at the end of the period.</span> : <span>Billing is disabled. Your administrator assigns plans.</span>}>
      <ul className="grid gap-px bg-line lg:grid-cols-[repeat(auto-fit,minmax(168px,1fr))]">
        {plans.map((p, i) => (
          <li key={p.id} className={`grid content-start gap-1 p-4 ${p.current ? 'bg-accent-soft' : 'bg-surface'}`}>
            <h3 className="flex flex-wrap items-center gap-2">{p.name}{p.current && <Badge tone="info" icon={CircleCheck}>Current plan</Badge>}{billing.pendingPlan === p.id && <Badge>Next plan</Badge>}</h3>
            {p.price && <p className="text-xl font-semibold">{money(p.price.amount, p.price.currency)}<span className="text-xs font-normal text-ink-3"> per {p.priceInterval ?? 'month'}</span></p>}
            <ul className="text-xs text-ink-2">
              {p.includedEmails !== null && <li>{count(p.includedEmails)} emails per month included</li>}
              {p.overagePrice && <li>{money(p.overagePrice.amount, p.overagePrice.currency)} per 1,000 additional</li>}
              {planNumbers.map(({ field, offer }) => offer?.(p.limits) && <li key={field}>{offer(p.limits)}</li>)}
            </ul>
            {mayChange && !p.current && billing.pendingPlan !== p.id && (
              <button type="button" className="btn mt-2 justify-self-start" disabled={busy !== ''} onClick={() => void choose(p)}>{at >= 0 && i < at ? `Downgrade to ${p.name}` : `Upgrade to ${p.name}`}</button>
            )}
          </li>
        ))}
      </ul>
      {wanted && <ChangeDialog plan={wanted} onClose={() => setWanted(undefined)} changed={() => { void client.invalidateQueries({ queryKey: ['BillingNow'] }); void client.invalidateQueries({ queryKey: ['UsageNow'] }); void client.invalidateQueries({ queryKey: ['viewer'] }) }} />}
    </Card>
  )
}
