import { useGraphQL } from '@/api/graphql'
import { planNumbers, type Limits } from '@/api/plan'
import { useViewer } from '@/app/viewer'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Card, Detail, DetailList, PageBody, PageHead } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { Invoices } from './Invoices'
import { Meter } from './Meter'
import { OwnLimit } from './OwnLimit'
import { Payment } from './Payment'
import { Plans } from './Plans'
import { BillingNow, UsageNow } from './queries.gen'

export default function Usage() {
  const { has } = useViewer()
  const usage = useGraphQL(UsageNow, {})
  const billing = useGraphQL(BillingNow, {}, { enabled: has('billing') })
  return (
    <>
      <PageHead title="Usage and billing" />
      <PageBody narrow>
        {usage.error && <ErrorAlert title="Couldn’t load usage" error={usage.error} retry={() => void usage.refetch()} />}
        {usage.data ? <Meter usage={usage.data.usage} account={usage.data.account} /> : usage.isPending && <SkeletonText lines={6} />}
        {billing.error && <ErrorAlert title="Couldn’t load billing" error={billing.error} retry={() => void billing.refetch()} />}
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

function OnlyPlan({ account: { plan } }: { account: { plan: Limits & { name: string } } }) {
  return (
    <Card title="Plan" footer={<span>Billing is disabled. Your administrator assigns plans.</span>}>
      <DetailList>
        <Detail name="Plan">{plan.name}</Detail>
        {planNumbers.flatMap(({ detail }) => detail?.(plan) ?? []).map(({ name, text }) => <Detail key={name} name={name}>{text}</Detail>)}
      </DetailList>
    </Card>
  )
}
