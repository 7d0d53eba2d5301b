import { Target } from 'lucide-react'
import { now } from '@/api/clock'
import { useGraphQL } from '@/api/graphql'
import { useSearchParams } from '@/app/searchParams'
import { useViewer } from '@/app/viewer'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { SkeletonText } from '@/parts/Skeleton'
import { EmailTrends } from '@/screens/statistics/EmailTrends'
import { count, percent, shareOf, type Measure } from '@/screens/statistics/figures'
import { choiceOf } from '@/screens/statistics/range'
import { Tile } from '@/screens/statistics/Tiles'
import { Trend, Trends } from '@/screens/statistics/Trend'
import { AutomationOverTime, type AutomationOverTimeQuery } from './automations.gen'
import type { Detail } from './definition'
import { goalText } from './status'

type Figures = AutomationOverTimeQuery['automationStatistics']['totals']

const outcomes: Measure<Figures> = {
  key: 'runs', name: 'Runs', kind: 'lines', write: count, none: 'No runs in this period.',
  series: [
    { name: 'Started', mark: 'info', of: (f) => f.started },
    { name: 'Completed', mark: 'ok', of: (f) => f.completed },
    { name: 'Failed', mark: 'bad', pattern: 'lines', of: (f) => f.failed },
    { name: 'Cancelled', mark: 'warn', pattern: 'dots', of: (f) => f.cancelled },
  ],
}

const conversions: Measure<Figures> = {
  key: 'conversions', name: 'Conversions', kind: 'bars', write: count, none: 'No conversions in this period.',
  series: [{ name: 'Converted', mark: 'ok', of: (f) => f.converted }],
}

// Statistics shows the runs of an automation and the results of its emails over time.
export function Statistics({ automation: a, write }: { automation: Detail; write: boolean }) {
  const { has } = useViewer()
  const [address, change] = useSearchParams()
  const choice = choiceOf({ ...address, only: `AUTOMATION:${a.id}`, called: a.name }, now())
  const read = useGraphQL(AutomationOverTime, { id: a.id, range: { gte: choice.gte, lt: choice.lt }, interval: choice.interval, timezone: choice.zone }, { keepPrevious: true, refetchInterval: 60_000 })
  const found = read.data?.automationStatistics
  const goal = <button type="button" className="btn sm" onClick={() => change({ tab: undefined, step: 'settings' })}><Target aria-hidden />{a.goal ? 'Edit goal' : 'Set a goal'}</button>
  return (
    <div className="p-4 md:p-6">
      <Trends choice={choice}>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <p className="text-ink-2">{a.goal ? <>Goal: {goalText(a.goal)}.</> : 'No goal. Set one to count the runs that lead to an event, such as a purchase.'}</p>
          {write && goal}
        </div>
        {read.error && <ErrorAlert error={read.error} retry={() => void read.refetch()} />}
        {!found && !read.error && <SkeletonText lines={6} />}
        {found && (
          <>
            <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-card border border-line bg-line *:last:max-lg:col-span-2 lg:grid-cols-5">
              <Tile name="Started" value={count(found.totals.started)} about="runs" />
              <Tile name="Completed" value={count(found.totals.completed)} about="reached the end" />
              <Tile name="Failed" value={count(found.totals.failed)} about="ended with an error" />
              <Tile name="Cancelled" value={count(found.totals.cancelled)} about="ended by an event or by you" />
              <Tile name="Converted" value={percent(shareOf(found.totals.conversionRate))} about={found.totals.withGoal + found.totals.converted > 0 ? `${count(found.totals.converted)} of ${count(found.totals.withGoal)} runs with a goal` : 'No runs with a goal'} />
            </dl>
            <Trend measure={outcomes} buckets={found.buckets} choice={choice} />
            {(a.goal || found.totals.converted > 0) && <Trend measure={conversions} buckets={found.buckets} choice={choice} />}
          </>
        )}
        <h2>Emails</h2>
        {has('sending') && <EmailTrends choice={choice} none="This automation sent no emails in this period." />}
      </Trends>
    </div>
  )
}
