import { Ban, Check, Clock, type LucideIcon } from 'lucide-react'
import { now } from '@/api/clock'
import type { Tone } from '@/parts/Badge'
import type { ApiKeyScope } from './queries.gen'

export const scopes: Record<ApiKeyScope, { word: string; value: 'full' | 'sending' | 'read'; means: string }> = {
  FULL: { word: 'Full', value: 'full', means: 'Full access.' },
  SENDING: { word: 'Sending', value: 'sending', means: 'Send and read emails and events.' },
  READ: { word: 'Read', value: 'read', means: 'Read everything except API keys.' },
}

// allPermissions are the permissions of API keys, as the REST API lists them.
export const allPermissions = [
  'account:read', 'account:write', 'automations:read', 'automations:write', 'contacts:write', 'domains:read', 'domains:write', 'emails:read', 'emails:send', 'emails:write',
  'events:read', 'events:send', 'received_emails:read', 'received_emails:write', 'requests:read', 'sms:read', 'sms:write', 'suppressions:read', 'suppressions:write',
  'templates:read', 'templates:write', 'webhooks:read', 'webhooks:write',
] as const
export type Permission = (typeof allPermissions)[number]

export interface Look {
  word: string
  tone: Tone
  icon: LucideIcon
}

export function lookOf(k: { revokedAt: string | null; expiresAt?: string | null }): Look {
  if (k.revokedAt) return { word: 'Revoked', tone: 'bad', icon: Ban }
  if (k.expiresAt && new Date(k.expiresAt).getTime() <= now()) return { word: 'Expired', tone: 'warn', icon: Clock }
  return { word: 'Active', tone: 'ok', icon: Check }
}

export const active = (k: { revokedAt: string | null; expiresAt?: string | null }) => lookOf(k).word === 'Active'
