// Dates and times in time zones: statistics use the zone in the URL, not that of the browser.

export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

export const zones: string[] = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((z) => z !== 'UTC')]

export const isZone = (zone: string) => zones.includes(zone) || zone === ownZone

const partsOf = (zone: string) => new Intl.DateTimeFormat('en-GB', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })

// offsetAt returns the offset of the zone from UTC, in milliseconds.
function offsetAt(at: number, zone: string): number {
  const p = Object.fromEntries(partsOf(zone).formatToParts(at).map((x) => [x.type, Number(x.value)]))
  return Date.UTC(p.year ?? 0, (p.month ?? 1) - 1, p.day, p.hour, p.minute, p.second) - Math.floor(at / 1000) * 1000
}

// dayIn returns the day of an instant, such as 2026-01-31.
export function dayIn(at: number, zone: string): string {
  return new Date(at + offsetAt(at, zone)).toISOString().slice(0, 10)
}

// startOf returns the instant at which a day begins.
export function startOf(day: string, zone: string): number {
  const utc = Date.parse(`${day}T00:00:00Z`)
  const guess = utc - offsetAt(utc, zone)
  return utc - offsetAt(guess, zone)
}

// addDays adds calendar days.
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}

export const isDay = (text: string | undefined): text is string => text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`))
