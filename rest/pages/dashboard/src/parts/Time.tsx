import { useEffect, useState } from 'react'
import { clockOffset, now as clockNow } from '@/api/clock'
import { store, useStore } from '@/api/store'

// All times on the page share one timer. Between ticks, a newly rendered time uses the current time.
const now = store(clockNow())
const tick = () => now.set(clockNow())
setInterval(tick, 20_000)
clockOffset.subscribe(tick)

const zone = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hour12: false })
const clockSeconds = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false })
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const dayYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' })

export const formatUTC = (at: string) => at.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')

// formatRelative returns a time such as `3 min ago`, `22 Nov, 14:02` or `22 Nov 2025`.
export function formatRelative(at: string, from: number): string {
  const date = new Date(at)
  const elapsed = (from - date.getTime()) / 1000
  if (Math.abs(elapsed) < 45) return elapsed >= -5 ? 'just now' : 'in a moment'
  const size = Math.abs(elapsed)
  const amount = size < 3600 ? `${Math.round(size / 60)} min` : size < 86_400 ? `${Math.round(size / 3600)} h` : ''
  if (amount) return elapsed > 0 ? `${amount} ago` : `in ${amount}`
  return date.getFullYear() === new Date(from).getFullYear() ? `${day.format(date)}, ${clock.format(date)}` : dayYear.format(date)
}

// formatMoment returns an absolute time such as `22 Nov, 14:02` or `22 Nov 2025, 14:02`.
export function formatMoment(at: string, from: number): string {
  const date = new Date(at)
  return `${(date.getFullYear() === new Date(from).getFullYear() ? day : dayYear).format(date)}, ${clock.format(date)}`
}

// Time shows a relative time, with the exact time on hover. `absolute` shows the day and the minute, `exact` also the
// second.
export function Time({ at, exact, absolute, seconds }: { at: string | null | undefined; exact?: boolean; absolute?: boolean; seconds?: boolean }) {
  useStore(now)
  if (!at) return null
  const date = new Date(at)
  return <time dateTime={at} title={`${formatUTC(at)}\n${zone.format(date)} local time`} className="whitespace-nowrap">{seconds ? clockSeconds.format(date) : exact ? zone.format(date) : absolute ? formatMoment(at, clockNow()) : formatRelative(at, clockNow())}</time>
}

// formatDuration returns a duration such as `5 min 2 s`.
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  const s = Math.round(ms / 1000)
  if (s < 60) return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${s} s`
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`
}

// useNow returns the current time, updated every second, for countdowns.
export function useNow(): number {
  const [at, setAt] = useState(clockNow)
  useEffect(() => {
    const timer = setInterval(() => setAt(clockNow()), 1000)
    return () => clearInterval(timer)
  }, [])
  return at
}
