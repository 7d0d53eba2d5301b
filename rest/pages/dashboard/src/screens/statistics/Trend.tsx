import { useMemo, type ReactNode } from 'react'
import { useSearchParams } from '@/app/searchParams'
import { Card } from '@/parts/Page'
import { SegmentedControl } from '@/parts/Tabs'
import { Chart, type Point } from './Chart'
import { count, type Measure } from './figures'
import { intervals, ranges, type Choice } from './range'
import { namesOf } from './when'

// Trends has the controls of the range that the charts inside it show.
export function Trends({ choice, children }: { choice: Choice; children: ReactNode }) {
  const [, change] = useSearchParams()
  const recent = ranges.filter((r) => r.key !== 'custom')
  const fitting = intervals.filter((i) => choice.days <= i.most && (i.key === 'HOUR' || (i.key === 'DAY' && choice.range !== '24h')))
  return (
    <div className="grid min-w-0 grid-cols-1 gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <SegmentedControl label="Range" choices={recent} value={choice.range} onChange={(range) => change({ range: range === '7d' ? undefined : range, by: undefined })} />
        {fitting.length > 1 && <SegmentedControl label="Interval" choices={fitting} value={choice.interval} onChange={(by) => change({ by })} />}
        <span className="text-xs text-ink-3">In {choice.zone}. Kept for 25 months.</span>
      </div>
      {children}
    </div>
  )
}

// Trend draws one measure over time.
export function Trend<F>({ measure, buckets, choice }: { measure: Measure<F>; buckets: { start: string; figures: F }[]; choice: Choice }) {
  const points = useMemo<Point<F>[]>(() => {
    const names = namesOf(choice.interval, choice.zone)
    return buckets.map((b) => ({ start: b.start, figures: b.figures, name: names.full(b.start), brief: names.brief(b.start) }))
  }, [buckets, choice.interval, choice.zone])
  const empty = points.every((p) => measure.series.every((s) => (measure.write === count ? !s.of(p.figures) : s.of(p.figures) === null)))
  return (
    <Card title={measure.name}>
      {empty ? <p className="py-4 text-center text-ink-3">{measure.none}</p> : <Chart measure={measure} points={points} height={180} />}
    </Card>
  )
}
