import { useEffect, useState } from 'react'
import { ahead, now as clockNow } from '@/api/clock'
import { store, useStore } from '@/api/store'

// One clock for all times on the page. What comes between two ticks is told by the time of its drawing.
const now = store(clockNow())
const tick = () => now.set(clockNow())
setInterval(tick, 20_000)
ahead.follow(tick)

const zone = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hour12: false })
const clockSeconds = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false })
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const dayYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' })

export const utc = (at: string) => at.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')

// relative is `3 min ago`, `14:02`, `22 Nov`.
export function relative(at: string, from: number): string {
  const date = new Date(at)
  const gone = (from - date.getTime()) / 1000
  if (Math.abs(gone) < 45) return gone >= -5 ? 'just now' : 'in a moment'
  const size = Math.abs(gone)
  const words = size < 3600 ? `${Math.round(size / 60)} min` : size < 86_400 ? `${Math.round(size / 3600)} h` : ''
  if (words) return gone > 0 ? `${words} ago` : `in ${words}`
  return date.getFullYear() === new Date(from).getFullYear() ? `${day.format(date)}, ${clock.format(date)}` : dayYear.format(date)
}

// Time is when something was, near to now, with exact UTC on hover.
export function Time({ at, exact, seconds }: { at: string | null | undefined; exact?: boolean; seconds?: boolean }) {
  useStore(now)
  if (!at) return null
  const date = new Date(at)
  return <time dateTime={at} title={`${utc(at)}\n${zone.format(date)} here`} className="whitespace-nowrap">{seconds ? clockSeconds.format(date) : exact ? zone.format(date) : relative(at, clockNow())}</time>
}

// duration is `5 min 2 s`.
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  const s = Math.round(ms / 1000)
  if (s < 60) return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${s} s`
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`
}

// useNow ticks every second, for countdowns.
export function useNow(): number {
  const [at, setAt] = useState(clockNow)
  useEffect(() => {
    const timer = setInterval(() => setAt(clockNow()), 1000)
    return () => clearInterval(timer)
  }, [])
  return at
}
