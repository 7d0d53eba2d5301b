import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { now } from '@/api/clock'
import { useGraphQL } from '@/api/graphql'
import { useLive } from '@/api/live'
import { useQueryClient } from '@tanstack/react-query'
import { changeOf, count, limits, percent } from '../statistics/figures'
import { StartFigures } from './queries.gen'

const hour = 3_600_000

// useFigures reads the figures of the last 24 hours.
export function useFigures(enabled: boolean) {
  const queries = useQueryClient()
  const [until] = useState(() => Math.ceil((now() + 1) / hour) * hour)
  const range = { before: new Date(until - 48 * hour).toISOString(), gte: new Date(until - 24 * hour).toISOString(), lt: new Date(until).toISOString(), timezone: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC' }
  const figures = useGraphQL(StartFigures, range, { enabled, refetchInterval: 60_000 })
  useLive(['email.delivered', 'email.bounced', 'email.complained'], () => {
    if (enabled && !figures.isFetching && Date.now() - figures.dataUpdatedAt > 3000) void queries.invalidateQueries({ queryKey: [StartFigures.name] })
  })
  return figures
}

type Totals = NonNullable<ReturnType<typeof useFigures>['data']>['emailStatistics']['totals']

const part = (n: number, of: number) => (of > 0 ? n / of : null)

// tiles have the rate of each figure: of recipients, or of deliveries for what recipients do with a delivered email.
const tiles: { name: string; key: 'delivered' | 'bounced' | 'complained' | 'opened'; of: 'recipients' | 'delivered'; q?: string; limit?: { at: number; sample: number; words: string } }[] = [
  { name: 'Delivered', key: 'delivered', of: 'recipients', q: 'is:delivered' },
  { name: 'Bounced', key: 'bounced', of: 'recipients', q: 'is:bounced', limit: { at: limits.bounce[0], sample: 20, words: 'Limit 5\u00a0%' } },
  { name: 'Complained', key: 'complained', of: 'delivered', limit: { at: limits.complaint[1], sample: 200, words: 'Limit 0.3\u00a0%' } },
  { name: 'Opened', key: 'opened', of: 'delivered', q: 'is:opened' },
]

const countChange = (now: number, before: number) => (now === before ? 'No change' : `${count(Math.abs(now - before))} ${now > before ? 'more' : 'less'}`)

// Figures are the last 24 hours, with the limit of each rate and its change from the 24 hours before.
export function Figures({ figures }: { figures: ReturnType<typeof useFigures> }) {
  const t = figures.data?.emailStatistics.totals
  const before = figures.data?.previous.totals
  const rates = tiles.map((tile) => {
    const rate = (f: Totals) => part(f[tile.key], f[tile.of])
    const share = t ? rate(t) : null
    return {
      name: tile.name, q: tile.q, value: t?.[tile.key], bad: !!t && !!tile.limit && t[tile.of] >= tile.limit.sample && (share ?? 0) > tile.limit.at,
      about: share === null ? '' : `${percent(share)} of ${tile.of === 'recipients' ? 'recipients' : 'delivered'}`, limit: tile.limit?.words, change: changeOf(share, before && rate(before)),
    }
  })
  const cells = [{ name: 'Accepted', q: '', value: t?.accepted, bad: false, about: t ? `${count(t.recipients)} ${t.recipients === 1 ? 'recipient' : 'recipients'}` : '', limit: undefined, change: t && before && countChange(t.accepted, before.accepted) }, ...rates]
  if (figures.error) return null
  return (
    <section aria-label="The last 24 hours" className="grid gap-2">
      <div className="flex items-baseline"><h2>Last 24 hours</h2><Link to="/statistics" className="link ml-auto text-xs">Statistics</Link></div>
      <div className="grid grid-cols-2 overflow-hidden rounded-card border border-line sm:grid-cols-5">
        {cells.map((c) => (
          <Link key={c.name} to="/emails" search={(c.q ? { q: c.q } : {}) as never} className="grid content-start gap-0.5 px-4 py-3 last:col-span-2 sm:last:col-span-1 shadow-[1px_0_var(--color-line),0_1px_var(--color-line)] hover:bg-hover">
            <span className="text-xs text-ink-2">{c.name}</span>
            <strong className={`text-2xl font-semibold tracking-[-0.02em] ${c.bad ? 'text-bad' : ''}`}>{c.value === undefined ? <span className="skel my-3 w-10" /> : count(c.value)}</strong>
            <small className="min-h-4 text-xs text-ink-2">{c.about}{c.limit && c.about && <span className={`block ${c.bad ? 'text-bad' : 'text-ink-3'}`}>{c.limit}</span>}</small>
            <small className="min-h-4 text-xs text-ink-3" title="Compared with the 24 hours before">{c.change && (c.change === 'No change' ? c.change : `${c.change} than before`)}</small>
          </Link>
        ))}
      </div>
    </section>
  )
}
