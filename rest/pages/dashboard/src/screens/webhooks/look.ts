import { Check, CirclePause, CircleX, Clock, RotateCw, TriangleAlert, type LucideIcon } from 'lucide-react'
import type { Tone } from '@/parts/Badge'
import type { WebhookCountsFragment, WebhookDeliveryState, WebhookRowFragment } from './queries.gen'

export interface Look {
  word: string
  tone: Tone
  icon: LucideIcon
}

// lookOfWebhook is the state of an endpoint; with figures, it shows that an enabled endpoint fails.
export function lookOfWebhook(w: Pick<WebhookRowFragment, 'enabled' | 'disabledReason'>, f?: Figures): Look {
  if (w.enabled && isFailing(f)) return { word: 'Failing', tone: 'warn', icon: TriangleAlert }
  if (w.enabled) return { word: 'Enabled', tone: 'ok', icon: Check }
  if (w.disabledReason === 'failing' || w.disabledReason === 'gone') return { word: 'Disabled', tone: 'bad', icon: TriangleAlert }
  return { word: 'Disabled', tone: 'quiet', icon: CirclePause }
}

const reasons: Record<string, string> = {
  caller: 'by a member of this account',
  gone: 'after it responded 410 Gone',
  failing: 'after 30 failed deliveries',
}

// whyOff explains why an endpoint is disabled.
export const whyOff = (reason: string | null) => (reason === null ? '' : (reasons[reason] ?? reason))

export const states: Record<WebhookDeliveryState, Look> = {
  PENDING: { word: 'Pending', tone: 'info', icon: Clock },
  DELIVERED: { word: 'Delivered', tone: 'ok', icon: Check },
  FAILED: { word: 'Failed', tone: 'bad', icon: CircleX },
}

export const retrying: Look = { word: 'Retrying', tone: 'warn', icon: RotateCw }

export const paused: Look = { word: 'Paused', tone: 'quiet', icon: CirclePause }

// lookOfDelivery is the state of a delivery. While its endpoint is off, nothing is retried.
export const lookOfDelivery = (d: { state: WebhookDeliveryState; attemptCount: number; statusCode: number | null; error: string | null }, enabled = true): Look =>
  d.state === 'PENDING' && !enabled ? paused : d.state === 'PENDING' && d.attemptCount > 0 && (d.statusCode !== null || d.error !== null) ? retrying : states[d.state]

export type Figures = WebhookCountsFragment

// pendingOf returns the number of deliveries that neither succeeded nor used up their attempts.
export const pendingOf = (f: Figures) => Math.max(0, f.deliveries - f.succeeded - f.failed)

// rateOf returns the share of attempts that succeeded: each delivery succeeds with one attempt.
const rateOf = (f: Pick<Figures, 'succeeded' | 'attempts'> | undefined) => (f && f.attempts > 0 ? f.succeeded / f.attempts : null)

export function rateText(f: Pick<Figures, 'succeeded' | 'attempts'> | undefined): string {
  const rate = rateOf(f)
  return rate === null ? '–' : `${rate === 1 ? 100 : Math.min(99.9, 100 * rate).toFixed(1)} %`
}

export const rateTone = (f: Pick<Figures, 'succeeded' | 'attempts'> | undefined): Tone => {
  const rate = rateOf(f)
  return rate === null ? 'quiet' : rate >= 0.99 ? 'ok' : rate >= 0.9 ? 'warn' : 'bad'
}

// isFailing reports whether an endpoint fails often enough to need attention.
export const isFailing = (f: Pick<Figures, 'succeeded' | 'attempts'> | undefined) => f !== undefined && f.attempts >= 3 && rateTone(f) === 'bad'
