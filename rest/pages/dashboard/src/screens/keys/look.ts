import { Ban, Check, Clock, type LucideIcon } from 'lucide-react'
import { now } from '@/api/clock'
import type { Tone } from '@/parts/Badge'
import type { ApiKeyScope } from './queries.gen'

export const scopes: Record<ApiKeyScope, { word: string; value: 'full' | 'sending' | 'read'; means: string }> = {
  FULL: { word: 'Full', value: 'full', means: 'Full access.' },
  SENDING: { word: 'Sending', value: 'sending', means: 'Send and read emails and events.' },
  READ: { word: 'Read', value: 'read', means: 'Read everything except API keys.' },
}

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
