import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { now } from '@/api/clock'
import { useGraphQL } from '@/api/graphql'
import { useLive } from '@/api/live'
import { useQueryClient } from '@tanstack/react-query'
import { StartFigures } from './queries.gen'

const hour = 3_600_000

// useFigures reads the figures of the last 24 hours.
export function useFigures(enabled: boolean) {
  const queries = useQueryClient()
  const [until] = useState(() => Math.ceil((now() + 1) / hour) * hour)
  const range = { gte: new Date(until - 24 * hour).toISOString(), lt: new Date(until).toISOString(), timezone: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC' }
  const figures = useGraphQL(StartFigures, range, { enabled, refetchInterval: 60_000 })
  useLive(['email.delivered', 'email.bounced', 'email.complained'], () => {
    if (enabled && !figures.isFetching && Date.now() - figures.dataUpdatedAt > 3000) void queries.invalidateQueries({ queryKey: [StartFigures.name] })
  })
  return figures
}

// Figures are the last 24 hours. All rates are shares of recipients, except complaints and opens, which are shares of
// deliveries.
export function Figures({ figures }: { figures: ReturnType<typeof useFigures> }) {
  const t = figures.data?.emailStatistics.totals
  const share = (n: number, of: number) => (of > 0 ? `${((100 * n) / of).toFixed(n / of < 0.01 && n > 0 ? 2 : 1)} %` : '')
  const cells = [
    { name: 'Accepted', value: t?.accepted, about: t ? `${t.recipients} recipients` : '', q: 'after:' },
    { name: 'Delivered', value: t?.delivered, about: t ? share(t.delivered, t.recipients) : '', q: 'is:delivered' },
    { name: 'Bounced', value: t?.bounced, about: t ? share(t.bounced, t.recipients) : '', q: 'is:bounced', bad: t && t.recipients >= 20 && t.bounced / t.recipients > 0.05 },
    { name: 'Complained', value: t?.complained, about: t ? share(t.complained, t.delivered) : '', q: '', bad: t && t.delivered >= 200 && t.complained / t.delivered > 0.003 },
    { name: 'Opened', value: t?.opened, about: t ? share(t.opened, t.delivered) : '', q: 'is:opened' },
  ]
  if (figures.error) return null
  return (
    <section aria-label="The last 24 hours" className="grid gap-2">
      <div className="flex items-baseline"><h2>Last 24 hours</h2><Link to="/statistics" className="link ml-auto text-xs">Statistics</Link></div>
      <div className="grid grid-cols-2 overflow-hidden rounded-card border border-line sm:grid-cols-5">
        {cells.map((c) => (
          <Link key={c.name} to="/emails" search={(c.q.endsWith(':') || !c.q ? {} : { q: c.q }) as never} className="grid gap-0.5 px-4 py-3 last:col-span-2 sm:last:col-span-1 shadow-[1px_0_var(--color-line),0_1px_var(--color-line)] hover:bg-hover">
            <span className="text-xs text-ink-2">{c.name}</span>
            <strong className={`text-2xl font-semibold tracking-[-0.02em] ${c.bad ? 'text-bad' : ''}`}>{c.value ?? <span className="skel my-3 w-10" />}</strong>
            <small className="h-4 text-xs text-ink-3">{c.about}</small>
          </Link>
        ))}
      </div>
    </section>
  )
}
