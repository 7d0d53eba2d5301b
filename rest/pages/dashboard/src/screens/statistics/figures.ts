import type { Tone } from '@/parts/Badge'
import type { FiguresFragment as Figures } from './queries.gen'
export type { Figures }

export const count = (n: number) => n.toLocaleString('en')

export const shareOf = (rate: { numerator: number; denominator: number }): number | null => (rate.denominator > 0 ? rate.numerator / rate.denominator : null)

// percent returns `2.4 %`. Small shares have two digits, because the limits of mailbox providers are small.
export function percent(share: number | null): string {
  if (share === null) return '–'
  const p = share * 100
  return `${p === 0 ? '0' : p < 1 ? p.toFixed(2) : p < 10 ? p.toFixed(1) : Math.round(p)} %`
}

// changeOf compares a share with that of the previous period, in percentage points. It is empty without a comparison.
export function changeOf(share: number | null, before: number | null | undefined): string | undefined {
  if (share === null || before === null || before === undefined) return undefined
  const points = (share - before) * 100
  if (Math.abs(points) < 0.005) return 'No change'
  return `${Math.abs(points).toFixed(Math.abs(points) < 1 ? 2 : 1)} points ${points > 0 ? 'more' : 'less'}`
}

// The limits of receivers: Gmail and Yahoo publish one for complaints; bounces matter to all of them.
export const limits = { complaint: [0.001, 0.003], bounce: [0.05] } as const

export interface Verdict {
  tone: Tone
  words: string
}

// With few emails, a single complaint is a large share.
const few = 1000

export function verdictOnComplaints(rate: { numerator: number; denominator: number }): Verdict | null {
  const share = shareOf(rate)
  if (share === null) return null
  if (share >= limits.complaint[0] && rate.denominator < few) return { tone: 'warn', words: 'Above 0.1 % (small sample)' }
  if (share >= limits.complaint[1]) return { tone: 'bad', words: 'Above 0.3 %: Gmail and Yahoo may block your emails' }
  if (share >= limits.complaint[0]) return { tone: 'warn', words: 'Above 0.1 %: higher than Gmail and Yahoo recommend' }
  return { tone: 'ok', words: 'Below 0.1 %, as Gmail and Yahoo recommend' }
}

export function verdictOnBounces(share: number | null): Verdict | null {
  if (share === null) return null
  return share >= limits.bounce[0] ? { tone: 'bad', words: 'Above 5 %: hurts your reputation' } : { tone: 'ok', words: 'Below 5 %' }
}

export const seconds = (s: number): string => (s === 0 ? '0' : s < 1 ? `${Math.round(s * 1000)} ms` : s < 10 ? `${s.toFixed(1)} s` : s < 120 ? `${Math.round(s)} s` : s < 7200 ? `${Math.round(s / 60)} min` : `${Math.round(s / 3600)} h`)

export interface Series<F = Figures> {
  name: string
  // mark is the color; pattern distinguishes it without color.
  mark: 'ok' | 'warn' | 'bad' | 'info'
  pattern?: 'dots' | 'lines'
  of: (f: F) => number | null
}

export interface Measure<F = Figures> {
  key: string
  name: string
  kind: 'bars' | 'lines'
  series: Series<F>[]
  write: (n: number) => string
  lines?: { at: number; name: string }[]
  // none explains why there is nothing to draw.
  none: string
  more?: string
}

export const measures: Measure[] = [
  {
    key: 'delivery', name: 'Delivery', kind: 'bars', write: count, none: 'No deliveries or bounces in this period.',
    series: [
      { name: 'Delivered', mark: 'ok', of: (f) => f.delivered },
      { name: 'Bounced', mark: 'bad', pattern: 'lines', of: (f) => f.bounced },
      { name: 'Failed', mark: 'warn', pattern: 'dots', of: (f) => f.failed },
    ],
  },
  {
    key: 'engagement', name: 'Opens and clicks', kind: 'lines', write: count, none: 'No opens or clicks. They are counted for domains with tracking enabled.',
    series: [
      { name: 'Opened', mark: 'info', of: (f) => f.opened },
      { name: 'Clicked', mark: 'ok', pattern: 'dots', of: (f) => f.clicked },
    ],
  },
  { key: 'bounces', name: 'Bounce rate', kind: 'lines', write: (n) => percent(n), none: 'No emails were sent in this period.', more: 'is:bounced', lines: [{ at: limits.bounce[0], name: '5 %: hurts your reputation' }], series: [{ name: 'Bounce rate', mark: 'bad', of: (f) => shareOf(f.bounceRate) }] },
  { key: 'complaints', name: 'Complaint rate', kind: 'lines', write: (n) => percent(n), none: 'No deliveries in this period.', lines: [{ at: limits.complaint[0], name: '0.1 %' }, { at: limits.complaint[1], name: '0.3 %: too high' }], series: [{ name: 'Complaint rate', mark: 'bad', of: (f) => shareOf(f.complaintRate) }] },
  {
    key: 'latency', name: 'Latency', kind: 'lines', write: seconds, none: 'No deliveries in this period.',
    series: [
      { name: 'p50', mark: 'info', of: (f) => f.latency?.p50 ?? null },
      { name: 'p95', mark: 'warn', pattern: 'dots', of: (f) => f.latency?.p95 ?? null },
    ],
  },
]
