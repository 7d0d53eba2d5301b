import { Check, CircleAlert, CircleHelp, CircleX, Clock, TriangleAlert, type LucideIcon } from 'lucide-react'
import type { Tone } from '@/parts/Badge'
import type { DomainStatus } from './queries.gen'

export interface Look {
  word: string
  tone: Tone
  icon: LucideIcon
  // means describes its meaning for the account.
  means: string
}

export const domainLooks: Record<DomainStatus, Look> = {
  PENDING: { word: 'Pending', tone: 'warn', icon: Clock, means: 'Can’t send yet. Publish the records below, then verify.' },
  VERIFIED: { word: 'Verified', tone: 'ok', icon: Check, means: 'Ready to send.' },
  TEMPORARY_FAILURE: { word: 'Records broken', tone: 'warn', icon: TriangleAlert, means: 'Was verified, but records are now missing or wrong. Sending continues for 72 hours after the first failed check.' },
  FAILED: { word: 'Failed', tone: 'bad', icon: CircleX, means: 'Records stayed invalid, so sending is disabled. Restore them, then verify.' },
}

const recordLooks: Record<string, Omit<Look, 'means'>> = {
  verified: { word: 'Found', tone: 'ok', icon: Check },
  mismatch: { word: 'Differs', tone: 'bad', icon: CircleAlert },
  missing: { word: 'Missing', tone: 'warn', icon: CircleHelp },
}

// lookOfRecord returns the state of a record. A record that was never checked is not called missing.
export function lookOfRecord(status: string, checked: boolean): Omit<Look, 'means'> {
  if (status === 'missing' && !checked) return { word: 'Not checked', tone: 'quiet', icon: Clock }
  return recordLooks[status] ?? { word: status, tone: 'quiet', icon: CircleHelp }
}

const purposes: Record<string, { name: string; why: string }> = {
  ownership: { name: 'Ownership', why: 'Proves that you own the domain.' },
  dkim: { name: 'DKIM', why: 'Public key that receivers use to verify our signature.' },
  return_path: { name: 'Return path', why: 'Where bounces are returned.' },
  spf: { name: 'SPF', why: 'Authorizes us to send. Merge with your existing SPF record if you have one.' },
  dmarc: { name: 'DMARC', why: 'Tells receivers what to do with mail that fails authentication. Required by Gmail and Yahoo.' },
  inbound_mx: { name: 'Inbound MX', why: 'Routes email for the domain to Postrider.' },
  bimi: { name: 'BIMI', why: 'Optional: shows your logo next to your mail at providers that support it. The Deliverability tab lists its problems.' },
  mta_sts_host: { name: 'MTA-STS host', why: 'Lets Postrider serve the TLS policy of the domain to senders.' },
  mta_sts: { name: 'MTA-STS', why: 'Announces the TLS policy. The value changes whenever the policy does.' },
  tls_reports: { name: 'TLS reports', why: 'Asks senders to report whether TLS works when they send mail to the domain.' },
}

export const purposeOf = (purpose: string) => purposes[purpose] ?? { name: purpose, why: '' }

// relativeName returns the name relative to the zone, as the forms of DNS providers expect it.
export function relativeName(name: string, zone: string): string {
  if (name === zone) return '@'
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name
}
