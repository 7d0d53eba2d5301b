import { useGraphQL } from '@/api/graphql'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { SkeletonText } from '@/parts/Skeleton'
import { measures } from './figures'
import { MailFigures } from './queries.gen'
import type { Choice } from './range'
import { Tiles } from './Tiles'
import { Trend } from './Trend'

const shown = measures.filter((m) => m.key === 'delivery' || m.key === 'engagement')

// EmailTrends shows the results of the emails that `choice` selects.
export function EmailTrends({ choice, none }: { choice: Choice; none: string }) {
  const read = useGraphQL(MailFigures, { range: { gte: choice.gte, lt: choice.lt }, interval: choice.interval, timezone: choice.zone, filter: choice.filter }, { keepPrevious: true, refetchInterval: 60_000 })
  const found = read.data?.emailStatistics
  if (read.error) return <ErrorAlert error={read.error} retry={() => void read.refetch()} />
  if (!found) return <SkeletonText lines={6} />
  if (found.totals.accepted + found.totals.delivered + found.totals.bounced + found.totals.suppressed === 0) return <p className="text-ink-3">{none}</p>
  return (
    <>
      <Tiles totals={found.totals} previous={undefined} choice={choice} />
      {shown.map((m) => <Trend key={m.key} measure={m} buckets={found.buckets} choice={choice} />)}
    </>
  )
}
