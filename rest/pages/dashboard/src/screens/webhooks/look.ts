import { Check, CirclePause, CircleX, Clock, RotateCw, TriangleAlert, type LucideIcon } from 'lucide-react'
import type { Tone } from '@/parts/Badge'
import type { WebhookCountsFragment, WebhookDeliveryState, WebhookRowFragment } from './queries.gen'

export interface Look {
  word: string
  tone: Tone
  icon: LucideIcon
}

export function lookOfWebhook(w: Pick<WebhookRowFragment, 'enabled' | 'disabledReason'>): Look {
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

export const lookOfDelivery = (d: { state: WebhookDeliveryState; attemptCount: number; statusCode: number | null; error: string | null }): Look =>
  d.state === 'PENDING' && d.attemptCount > 0 && (d.statusCode !== null || d.error !== null) ? retrying : states[d.state]

export type Figures = WebhookCountsFragment

export function rateText(f: Figures | undefined): string {
  if (!f || f.successRate.denominator === 0) return '–'
  const percent = (100 * f.successRate.numerator) / f.successRate.denominator
  return `${percent === 100 ? 100 : Math.min(99.9, percent).toFixed(1)} %`
}

export const rateTone = (f: Figures | undefined): Tone => {
  if (!f || f.successRate.denominator === 0) return 'quiet'
  const rate = f.successRate.numerator / f.successRate.denominator
  return rate >= 0.99 ? 'ok' : rate >= 0.9 ? 'warn' : 'bad'
}
