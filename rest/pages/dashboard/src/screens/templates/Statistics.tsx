import { now } from '@/api/clock'
import { useSearchParams } from '@/app/searchParams'
import { EmailTrends } from '@/screens/statistics/EmailTrends'
import { choiceOf } from '@/screens/statistics/range'
import { Trends } from '@/screens/statistics/Trend'

// Statistics shows the results of the emails that were sent with a template.
export function Statistics({ id, name }: { id: string; name: string }) {
  const [address] = useSearchParams()
  const choice = choiceOf({ ...address, only: `TEMPLATE:${id}`, called: name }, now())
  return <Trends choice={choice}><EmailTrends choice={choice} none="No emails were sent with this template in this period." /></Trends>
}
