import { Check, CircleAlert, CircleHelp, CircleX, Clock, TriangleAlert, type LucideIcon } from 'lucide-react'
import type { Tone } from '@/parts/Badge'
import type { DomainStatus } from './queries.gen'

export interface Look {
  word: string
  tone: Tone
  icon: LucideIcon
  // means says what it is to the account.
  means: string
}

export const domainLooks: Record<DomainStatus, Look> = {
  PENDING: { word: 'Pending', tone: 'warn', icon: Clock, means: 'It cannot send yet: publish the records below, then verify.' },
  VERIFIED: { word: 'Verified', tone: 'ok', icon: Check, means: 'All required records were found. It may send.' },
  TEMPORARY_FAILURE: { word: 'Records broken', tone: 'warn', icon: TriangleAlert, means: 'It was verified, but records broke. It still sends for 72 hours from the first failed check.' },
  FAILED: { word: 'Failed', tone: 'bad', icon: CircleX, means: 'Its records stayed broken, so it sends no more. Put them back, then verify.' },
}

const recordLooks: Record<string, Omit<Look, 'means'>> = {
  verified: { word: 'Found', tone: 'ok', icon: Check },
  mismatch: { word: 'Differs', tone: 'bad', icon: CircleAlert },
  missing: { word: 'Missing', tone: 'warn', icon: CircleHelp },
}

// lookOfRecord is how a record stands; one that was never looked for is not called missing.
export function lookOfRecord(status: string, checked: boolean): Omit<Look, 'means'> {
  if (status === 'missing' && !checked) return { word: 'Not checked', tone: 'quiet', icon: Clock }
  return recordLooks[status] ?? { word: status, tone: 'quiet', icon: CircleHelp }
}

const purposes: Record<string, { name: string; why: string }> = {
  ownership: { name: 'Ownership', why: 'Proves that the domain is yours.' },
  dkim: { name: 'DKIM', why: 'The public key by which receivers check our signature.' },
  return_path: { name: 'Return path', why: 'Where bounces come back to.' },
  spf: { name: 'SPF', why: 'Names us as a sender of the domain. One SPF record only: join ours to yours.' },
  dmarc: { name: 'DMARC', why: 'What receivers do with mail that fails. Gmail and Yahoo ask for one.' },
  inbound_mx: { name: 'Inbound MX', why: 'Brings mail to the domain here.' },
}

export const purposeOf = (purpose: string) => purposes[purpose] ?? { name: purpose, why: '' }

// relativeName is the name as it is typed into the form of a DNS provider, whose zone is known.
export function relativeName(name: string, zone: string): string {
  if (name === zone) return '@'
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name
}
