import { ChartColumn, RotateCw, Table2 } from 'lucide-react'
import { useMemo } from 'react'
import { now } from '@/api/clock'
import { useGraphQL } from '@/api/graphql'
import { useSearchParams } from '@/app/searchParams'
import { EmptyState } from '@/parts/EmptyState'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { Card, PageBody, PageHead } from '@/parts/Page'
import { SkeletonText } from '@/parts/Skeleton'
import { SegmentedControl } from '@/parts/Tabs'
import { Breakdown } from './Breakdown'
import { Chart, type Point } from './Chart'
import { Controls } from './Controls'
import { count, measures, type Figures } from './figures'
import { MailFigures, MailTotals } from './queries.gen'
import { choiceOf, emailsOf, searchTerm, type Choice } from './range'
import { Reasons } from './Reasons'
import { FiguresTable } from './Table'
import { Tiles } from './Tiles'
import { namesOf } from './when'

export default function Statistics() {
  const [address] = useSearchParams()
  const choice = choiceOf(address, now())
  const range = { gte: choice.gte, lt: choice.lt }
  const variables = { range, interval: choice.interval, timezone: choice.zone, filter: choice.filter }
  const figures = useGraphQL(MailFigures, variables, { keepPrevious: true, refetchInterval: 60_000 })
  const found = figures.data?.emailStatistics
  // The period of the same length before the selected one, which the tiles compare with.
  const length = Date.parse(choice.lt) - Date.parse(choice.gte)
  const before = { ...variables, range: { gte: new Date(Date.parse(choice.gte) - length).toISOString(), lt: choice.gte } }
  const previous = useGraphQL(MailTotals, before, { keepPrevious: true }).data?.emailStatistics.totals
  return (
    <>
      <PageHead title="Statistics">
        <button type="button" className="btn" onClick={() => void figures.refetch()} disabled={figures.isFetching}><RotateCw aria-hidden />Refresh</button>
      </PageHead>
      <Controls choice={choice} />
      <PageBody>
        {figures.error && <ErrorAlert error={figures.error} retry={() => void figures.refetch()} />}
        {!found && !figures.error && <SkeletonText lines={8} />}
        {found && (seen(found.totals) ? (
          <>
            <Tiles totals={found.totals} previous={previous} choice={choice} />
            <OverTime choice={choice} buckets={found.buckets} totals={found.totals} />
            <Breakdown choice={choice} variables={variables} />
            <Reasons choice={choice} variables={{ range, filter: choice.filter }} />
          </>
        ) : <NoMail choice={choice} />)}
      </PageBody>
    </>
  )
}

const seen = (f: Figures) => f.accepted + f.delivered + f.bounced + f.failed + f.complained + f.opened + f.clicked + f.suppressed + f.unsubscribed + f.delayed > 0

function OverTime({ choice, buckets, totals }: { choice: Choice; buckets: { start: string; figures: Figures }[]; totals: Figures }) {
  const [address, change] = useSearchParams()
  const measure = measures.find((m) => m.key === address.measure) ?? measures[0]
  const points = useMemo<Point[]>(() => {
    const names = namesOf(choice.interval, choice.zone)
    const linked = searchTerm(choice.only) !== undefined
    return buckets.map((b, i) => ({
      start: b.start, figures: b.figures, name: names.full(b.start), brief: names.brief(b.start),
      search: linked ? emailsOf(choice, b.start, buckets[i + 1]?.start ?? choice.lt, measure?.more) : undefined,
    }))
  }, [buckets, choice.interval, choice.zone, choice.lt, address.only, measure?.more])
  if (!measure) return null
  const table = address.view === 'table'
  const empty = points.every((p) => measure.series.every((s) => (measure.write === count ? !s.of(p.figures) : s.of(p.figures) === null)))
  return (
    <Card
      title={(
        <select aria-label="Chart metric" value={measure.key} onChange={(e) => change({ measure: e.target.value })} disabled={table} className="h-[30px] rounded-control border border-line bg-raised px-2 font-normal text-ink-2 hover:bg-hover">
          {measures.map((m) => <option key={m.key} value={m.key}>{m.name}</option>)}
        </select>
      )}
      padded={!table}
      actions={<SegmentedControl label="Show as" choices={[{ key: 'chart', name: 'Chart', icon: <ChartColumn aria-hidden className="!size-3.5" /> }, { key: 'table', name: 'Table', icon: <Table2 aria-hidden className="!size-3.5" /> }]} value={table ? 'table' : 'chart'} onChange={(view) => change({ view: view === 'table' ? view : undefined })} />}
      footer={<span>Events are counted in the period in which they happened, in {choice.zone}. Kept for 25 months.</span>}
    >
      {table ? <FiguresTable label="Figures by period" first="Period" rows={points.map((p) => ({ key: p.start, name: p.name, figures: p.figures, search: p.search }))} total={totals} />
        : empty ? <p className="py-8 text-center text-ink-3">{measure.none}</p>
          : <Chart measure={measure} points={points} />}
    </Card>
  )
}

function NoMail({ choice }: { choice: Choice }) {
  const [, change] = useSearchParams()
  if (choice.only) return <EmptyState icon={ChartColumn} title="No matching emails in this period" action={<button type="button" className="btn" onClick={() => change({ only: undefined, called: undefined })}>Show all emails</button>} />
  return (
    <EmptyState icon={ChartColumn} title="No emails in this period" command={{ email: {} }} action={choice.range !== '90d' && <button type="button" className="btn" onClick={() => change({ range: '90d', by: undefined, from: undefined, to: undefined })}>Show the last 90 days</button>}>
      Statistics appear within a minute of the first email.
    </EmptyState>
  )
}
