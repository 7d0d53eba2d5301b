import { X } from 'lucide-react'
import { now } from '@/api/clock'
import { useSearchParams } from '@/app/searchParams'
import { SegmentedControl } from '@/parts/Tabs'
import { dimensions, intervals, ranges, type Choice } from './range'
import { dayIn, ownZone, zones } from './zone'

const select = 'h-[34px] max-w-full min-w-0 rounded-control border border-line bg-raised px-2 text-ink-2 hover:bg-hover'

// Controls select the range, the period and the time zone, which are kept in the URL.
export function Controls({ choice }: { choice: Choice }) {
  const [, change] = useSearchParams()
  return (
    <div className="flex flex-none flex-wrap items-center gap-2 border-b border-line px-4 py-3 md:px-6">
      <SegmentedControl label="Range" choices={ranges} value={choice.range} onChange={(range) => change({ range, by: undefined, from: range === 'custom' ? choice.from : undefined, to: range === 'custom' ? choice.to : undefined })} />
      {choice.range === 'custom' && (
        <span className="flex flex-wrap items-center gap-2">
          <input type="date" aria-label="From" value={choice.from} max={choice.to} onChange={(e) => e.target.value && change({ from: e.target.value })} className={select} />
          <span aria-hidden className="text-ink-3">–</span>
          <input type="date" aria-label="To (inclusive)" value={choice.to} min={choice.from} max={dayIn(now(), choice.zone)} onChange={(e) => e.target.value && change({ to: e.target.value })} className={select} />
        </span>
      )}
      <select aria-label="Interval" value={choice.interval} onChange={(e) => change({ by: e.target.value })} className={select}>
        {intervals.map((i) => <option key={i.key} value={i.key} disabled={choice.days > i.most}>{i.name}</option>)}
      </select>
      <select aria-label="Time zone" value={choice.zone} onChange={(e) => change({ zone: e.target.value === ownZone ? undefined : e.target.value })} className={`${select} w-44`}>
        <option value={ownZone}>{ownZone} (yours)</option>
        {zones.filter((z) => z !== ownZone).map((z) => <option key={z} value={z}>{z}</option>)}
      </select>
      {choice.only && (
        <button type="button" className="chip !h-7" onClick={() => change({ only: undefined, called: undefined })} title="Show all emails again">
          {dimensions.find((d) => d.key === choice.only?.dimension)?.name}: <b>{choice.only.name}</b><X aria-label="Remove this filter" className="!size-3.5" />
        </button>
      )}
    </div>
  )
}
