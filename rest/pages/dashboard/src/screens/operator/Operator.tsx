import { useSearchParams } from '@/app/searchParams'
import { useViewer } from '@/app/viewer'
import { PageHead } from '@/parts/Page'
import { Tabs } from '@/parts/Tabs'
import { Accounts } from './Accounts'
import { useBilling } from './data'
import { Delivery } from './Delivery'
import { Health } from './Health'
import { Keys } from './Keys'
import { Payments } from './Payments'
import { Plans } from './Plans'
import { Processes } from './Processes'
import { Users } from './Users'

export default function Operator() {
  const viewer = useViewer()
  const [address, change] = useSearchParams()
  const billing = useBilling(viewer.has('billing'))
  const tabs = [
    { key: 'accounts', name: 'Accounts' },
    { key: 'users', name: 'Users' },
    { key: 'keys', name: 'Operator keys' },
    { key: 'plans', name: 'Plans' },
    { key: 'payments', name: 'Payments', hidden: !billing.data?.enabled && !billing.error },
    { key: 'delivery', name: 'Delivery', hidden: !viewer.has('sending') && !viewer.has('outbound') },
    { key: 'processes', name: 'Processes' },
    { key: 'health', name: 'Health' },
  ]
  const tab = tabs.find((t) => !t.hidden && t.key === address.tab)?.key ?? 'accounts'
  return (
    <>
      <PageHead title="Installation" />
      <div className="flex min-h-0 flex-1 flex-col [&>[role=tabpanel]]:flex [&>[role=tabpanel]]:min-h-0 [&>[role=tabpanel]]:flex-1 [&>[role=tabpanel]]:flex-col">
        <Tabs label="Installation" tabs={tabs} value={tab} onChange={(key) => change({ tab: key === 'accounts' ? undefined : key, q: undefined, plan: undefined, status: undefined, open: undefined }, true)}>
          {tab === 'accounts' && <Accounts />}
          {tab === 'users' && <Users />}
          {tab === 'keys' && <Keys />}
          {tab === 'plans' && <Plans />}
          {tab === 'payments' && <Payments />}
          {tab === 'delivery' && <Delivery />}
          {tab === 'processes' && <Processes />}
          {tab === 'health' && <Health />}
        </Tabs>
      </div>
    </>
  )
}
