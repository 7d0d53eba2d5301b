import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { now } from '@/api/clock'
import { query } from '@/api/graphql'
import { useSearchParams } from '@/app/searchParams'
import { ErrorAlert } from '@/parts/ErrorAlert'
import { SegmentedControl } from '@/parts/Tabs'
import { Chart, type Point } from '@/screens/statistics/Chart'
import { count, type Measure } from '@/screens/statistics/figures'
import { namesOf } from '@/screens/statistics/when'
import type { Figures } from './look'
import { WebhookFigures } from './queries.gen'
import { chosen, intervalsOf, ranges } from './range'

// useFigures fetches the delivery figures of one or all endpoints for the range in the URL.
export function useFigures(id: string | null) {
  const [address] = useSearchParams()
  const choice = chosen(address, now())
  const { gte, lt, interval, zone } = choice
  const read = useQuery({
    queryKey: [WebhookFigures.name, id, gte, lt, interval, zone],
    queryFn: ({ signal }) => query(WebhookFigures, { range: { gte, lt }, interval, timezone: zone, id }, signal),
    refetchInterval: 60_000, placeholderData: keepPreviousData,
  })
  return { ...read, choice, found: read.data?.webhookStatistics }
}

const measure: Measure<Figures> = {
  key: 'deliveries', name: 'Deliveries', kind: 'bars', write: count, none: 'No deliveries in this period.',
  series: [
    { name: 'Succeeded', mark: 'ok', of: (f) => f.succeeded },
    { name: 'Failed', mark: 'bad', pattern: 'lines', of: (f) => f.failed },
  ],
}

const names = { HOUR: 'By hour', DAY: 'By day' }

// OverTime shows the outcomes of deliveries by period.
export function OverTime({ figures }: { figures: ReturnType<typeof useFigures> }) {
  const [, change] = useSearchParams()
  const { choice, found } = figures
  const points = useMemo<Point<Figures>[]>(() => {
    const write = namesOf(choice.interval, choice.zone)
    return found?.buckets.map((b) => ({ start: b.start, figures: b.figures, name: write.full(b.start), brief: write.brief(b.start) })) ?? []
  }, [found, choice.interval, choice.zone])
  const fitting = intervalsOf(choice.range)
  const nothing = !found || found.totals.succeeded + found.totals.failed === 0
  return (
    <section aria-label="Deliveries over time" className="grid flex-none grid-cols-1 gap-3 border-b border-line px-4 py-3 md:px-6">
      <div className="flex flex-wrap items-center gap-2">
        <SegmentedControl label="Range" choices={ranges} value={choice.range} onChange={(range) => change({ range: range === '24h' ? undefined : range, by: undefined })} />
        {fitting.length > 1 && <SegmentedControl label="Interval" choices={fitting.map((key) => ({ key, name: names[key] }))} value={choice.interval} onChange={(by) => change({ by: by === fitting[0] ? undefined : by })} />}
      </div>
      {figures.error && <ErrorAlert error={figures.error} retry={() => void figures.refetch()} />}
      {nothing ? <p className="py-2 text-ink-3">{found ? measure.none : 'Counting…'}</p> : <Chart measure={measure} points={points} height={150} />}
    </section>
  )
}
