import { RefreshCw } from 'lucide-react'
import { useQueryClient } from '@tanstack/react-query'
import { useSearchParams } from '@/app/searchParams'
import { PageHead } from '@/parts/Page'
import { Tabs } from '@/parts/Tabs'
import { Destinations } from './Destinations'
import { QueueBacklogs, QueueRecipients, ScheduledEmails } from './queries.gen'
import { Recipients } from './Recipients'
import { Scheduled } from './Scheduled'

const tabs = [
  { key: 'destinations', name: 'By destination' },
  { key: 'recipients', name: 'Recipients' },
  { key: 'scheduled', name: 'Scheduled' },
]

export default function Queue() {
  const [address, change] = useSearchParams()
  const queries = useQueryClient()
  const tab = tabs.find((t) => t.key === address.tab)?.key ?? 'destinations'
  const refresh = () => [QueueBacklogs, QueueRecipients, ScheduledEmails].forEach((d) => void queries.invalidateQueries({ queryKey: [d.name] }))
  return (
    <>
      <PageHead title="Queue"><button type="button" className="btn" onClick={refresh}><RefreshCw aria-hidden />Refresh</button></PageHead>
      <div className="flex min-h-0 flex-1 flex-col [&>[role=tabpanel]]:flex [&>[role=tabpanel]]:min-h-0 [&>[role=tabpanel]]:flex-1 [&>[role=tabpanel]]:flex-col">
        <Tabs label="Queue" tabs={tabs} value={tab} onChange={(key) => change({ tab: key === 'destinations' ? undefined : key, destination: undefined, state: undefined, email: undefined, open: undefined }, true)}>
          {tab === 'destinations' && <Destinations />}
          {tab === 'recipients' && <Recipients />}
          {tab === 'scheduled' && <Scheduled />}
        </Tabs>
      </div>
    </>
  )
}
