import type { StatisticsInterval } from './queries.gen'

type Style = Intl.DateTimeFormatOptions

const long: Record<StatisticsInterval, Style> = {
  HOUR: { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  DAY: { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
  WEEK: { day: 'numeric', month: 'short', year: 'numeric' },
  MONTH: { month: 'long', year: 'numeric' },
}
const short: Record<StatisticsInterval, Style> = {
  HOUR: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  DAY: { day: 'numeric', month: 'short' },
  WEEK: { day: 'numeric', month: 'short' },
  MONTH: { month: 'short', year: '2-digit' },
}

// namesOf returns the full name of a period and its axis label.
export function namesOf(interval: StatisticsInterval, zone: string) {
  const full = new Intl.DateTimeFormat(undefined, { ...long[interval], timeZone: zone })
  const brief = new Intl.DateTimeFormat(undefined, { ...short[interval], timeZone: zone })
  return {
    full: (at: string) => (interval === 'WEEK' ? `Week of ${full.format(new Date(at))}` : full.format(new Date(at))),
    brief: (at: string) => brief.format(new Date(at)),
  }
}
