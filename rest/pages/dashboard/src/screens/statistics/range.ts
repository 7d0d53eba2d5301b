import { now } from '@/api/clock'
import type { StatisticsDimension, StatisticsFilter, StatisticsInterval } from './queries.gen'
import { addDays, dayIn, isDay, isZone, ownZone, startOf } from './zone'

export type Range = '24h' | '7d' | '30d' | '90d' | 'custom'
export const ranges: { key: Range; name: string }[] = [{ key: '24h', name: '24 h' }, { key: '7d', name: '7 days' }, { key: '30d', name: '30 days' }, { key: '90d', name: '90 days' }, { key: 'custom', name: 'Custom' }]

export const intervals: { key: StatisticsInterval; name: string; most: number }[] = [
  { key: 'HOUR', name: 'By hour', most: 8 },
  { key: 'DAY', name: 'By day', most: 190 },
  { key: 'WEEK', name: 'By week', most: 800 },
  { key: 'MONTH', name: 'By month', most: 800 },
]

export const dimensions: { key: StatisticsDimension; name: string; field?: 'domainId' | 'apiKeyId' | 'templateId' | 'automationId' | 'recipientDomain' | 'bounceClass' }[] = [
  { key: 'DOMAIN', name: 'Domain', field: 'domainId' },
  { key: 'TAG', name: 'Tag' },
  { key: 'API_KEY', name: 'API key', field: 'apiKeyId' },
  { key: 'TEMPLATE', name: 'Template', field: 'templateId' },
  { key: 'AUTOMATION', name: 'Automation', field: 'automationId' },
  { key: 'RECIPIENT_DOMAIN', name: "Recipient domain", field: 'recipientDomain' },
  { key: 'BOUNCE_CLASS', name: 'Bounce class', field: 'bounceClass' },
]

// Of these, a grouping by one cannot be combined with a filter by another.
const alone = ['TAG', 'RECIPIENT_DOMAIN', 'BOUNCE_CLASS']
export const goTogether = (group: string, only: string | undefined) => !only || group === only || !(alone.includes(group) && alone.includes(only))

export interface Choice {
  range: Range
  from: string
  to: string
  gte: string
  lt: string
  days: number
  interval: StatisticsInterval
  zone: string
  group: StatisticsDimension
  only?: { dimension: StatisticsDimension; key: string; name: string }
  filter: StatisticsFilter | null
}

const hour = 3_600_000

// choiceOf reads the URL. Invalid parameters are ignored.
export function choiceOf(address: Record<string, string>, now: number): Choice {
  const zone = address.zone && isZone(address.zone) ? address.zone : ownZone
  const range = ranges.find((r) => r.key === address.range)?.key ?? '7d'
  const until = Math.ceil(now / hour) * hour
  const today = dayIn(now, zone)
  let from = addDays(today, range === '24h' ? -1 : range === '7d' ? -6 : range === '90d' ? -89 : -29)
  let to = today
  let [gte, lt] = [range === '24h' ? until - 24 * hour : startOf(from, zone), until]
  if (range === 'custom') {
    if (isDay(address.to)) to = address.to
    from = isDay(address.from) ? address.from : addDays(to, -29)
    if (from > to) from = to
    gte = startOf(from, zone)
    lt = startOf(addDays(to, 1), zone)
  }
  const days = (lt - gte) / (24 * hour)
  const fitting = intervals.filter((i) => days <= i.most)
  const wanted = fitting.find((i) => i.key === address.by)?.key
  const interval = wanted ?? (range === '24h' || days <= 2 ? 'HOUR' : days <= 100 ? 'DAY' : days <= 400 ? 'WEEK' : 'MONTH')
  const only = onlyOf(address)
  const group = dimensions.find((d) => d.key === address.group && goTogether(d.key, only?.dimension))?.key ?? 'DOMAIN'
  return { range, from, to, gte: new Date(gte).toISOString(), lt: new Date(lt).toISOString(), days, interval, zone, group, only, filter: filterOf(only) }
}

function onlyOf(address: Record<string, string>): Choice['only'] {
  const text = address.only ?? ''
  const at = text.indexOf(':')
  const dimension = dimensions.find((d) => d.key === text.slice(0, at))?.key
  const key = text.slice(at + 1)
  return dimension && key ? { dimension, key, name: address.called || key } : undefined
}

function filterOf(only: Choice['only']): StatisticsFilter | null {
  if (!only) return null
  if (only.dimension === 'TAG') {
    const at = only.key.indexOf('=')
    return { tag: { name: only.key.slice(0, at), value: only.key.slice(at + 1) } }
  }
  const field = dimensions.find((d) => d.key === only.dimension)?.field
  return field ? { [field]: only.key } : null
}

// searchTerm returns the search term that finds the emails of a group; undefined if there is none.
export function searchTerm(only: Choice['only']): string | undefined {
  if (!only) return ''
  if (only.dimension === 'TAG') return `tag:${only.key}`
  if (only.dimension === 'DOMAIN') return `domain:${only.key}`
  if (only.dimension === 'TEMPLATE') return `template:${only.key}`
  if (only.dimension === 'AUTOMATION') return `automation:${only.key}`
  return only.dimension === 'BOUNCE_CLASS' ? 'is:bounced' : undefined
}

// emailsOf returns the search for the emails of a time range.
export function emailsOf(choice: Choice, from: string, to: string | undefined, more = ''): { q: string } {
  const open = to === undefined || Date.parse(to) > now()
  return { q: [searchTerm(choice.only) ?? '', more, `after:${short(from)}`, open ? '' : `before:${short(to)}`].filter(Boolean).join(' ') }
}

const short = (at: string) => at.replace(/\.\d+Z$/, 'Z')
