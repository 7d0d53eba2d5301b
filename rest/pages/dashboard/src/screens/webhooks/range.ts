import { choiceOf, ranges as all, type Choice } from '@/screens/statistics/range'

// Deliveries are kept for 30 days.
const kept = ['24h', '7d', '30d'] as const
export type Range = (typeof kept)[number]
export const ranges = all.flatMap(({ key, name }) => (kept.includes(key as Range) ? [{ key: key as Range, name }] : []))

// intervals are the possible periods of a range: a month of hours would have too many bars.
export const intervalsOf = (range: Range) => (range === '7d' ? (['DAY', 'HOUR'] as const) : range === '24h' ? (['HOUR'] as const) : (['DAY'] as const))

export interface Chosen extends Pick<Choice, 'gte' | 'lt' | 'zone'> {
  range: Range
  name: string
  interval: 'DAY' | 'HOUR'
}

// chosen reads the URL like the statistics do. Invalid parameters are ignored.
export function chosen(address: Record<string, string>, now: number): Chosen {
  const { key: range, name } = ranges.find((r) => r.key === address.range) ?? { key: '24h' as const, name: '24 h' }
  const { gte, lt, zone } = choiceOf({ range, ...(address.zone ? { zone: address.zone } : {}) }, now)
  const [first, ...others] = intervalsOf(range)
  return { range, name, gte, lt, zone, interval: others.find((i) => i === address.by) ?? first }
}
