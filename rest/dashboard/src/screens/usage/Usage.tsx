import { useGraph } from '@/api/graphql'
import { useViewer } from '@/app/viewer'
import { Failure } from '@/parts/Failure'
import { Card, Fact, Facts, PageBody, PageHead } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Invoices } from './Invoices'
import { Meter } from './Meter'
import { count } from './money'
import { OwnLimit } from './OwnLimit'
import { Payment } from './Payment'
import { Plans } from './Plans'
import { BillingNow, UsageNow } from './queries.gen'

export default function Usage() {
  const { has } = useViewer()
  const usage = useGraph(UsageNow, {})
  const billing = useGraph(BillingNow, {}, { enabled: has('billing') })
  return (
    <>
      <PageHead title="Usage and billing" />
      <PageBody narrow>
        {usage.error && <Failure what="Usage could not be read" error={usage.error} retry={() => void usage.refetch()} />}
        {usage.data ? <Meter usage={usage.data.usage} account={usage.data.account} /> : usage.isPending && <SkeletonText lines={6} />}
        {billing.error && <Failure what="Billing could not be read" error={billing.error} retry={() => void billing.refetch()} />}
        {billing.data ? (
          <>
            {billing.data.billing.enabled && <Payment billing={billing.data.billing} plans={billing.data.plans} />}
            <Plans plans={billing.data.plans} billing={billing.data.billing} />
            <OwnLimit limit={billing.data.billing.monthlyLimit} />
            {billing.data.billing.enabled && <Invoices />}
          </>
        ) : !has('billing') && usage.data && <OnlyPlan account={usage.data.account} />}
      </PageBody>
    </>
  )
}

function OnlyPlan({ account: { plan } }: { account: { plan: { name: string; requestsPerSecond: number; maxDomains: number } } }) {
  return (
    <Card title="Plan" foot={<span>Payments are off in this installation: its operator gives plans.</span>}>
      <Facts>
        <Fact name="Plan">{plan.name}</Fact>
        <Fact name="Domains">At most {count(plan.maxDomains)}</Fact>
        <Fact name="Requests">{count(plan.requestsPerSecond)} a second</Fact>
      </Facts>
    </Card>
  )
}
