import { Ban, CalendarClock, Check, CircleMinus, CircleX, Clock, Eye, Flag, Hourglass, MousePointerClick, Send, Undo2, type LucideIcon } from 'lucide-react'
import type { Tone } from '@/parts/Badge'

export interface Look {
  word: string
  tone: Tone
  icon: LucideIcon
}

const statuses: Record<string, Look> = {
  QUEUED: { word: 'Queued', tone: 'quiet', icon: Clock },
  SCHEDULED: { word: 'Scheduled', tone: 'quiet', icon: CalendarClock },
  SENT: { word: 'Sent', tone: 'info', icon: Send },
  DELIVERED: { word: 'Delivered', tone: 'ok', icon: Check },
  BOUNCED: { word: 'Bounced', tone: 'bad', icon: Undo2 },
  FAILED: { word: 'Failed', tone: 'bad', icon: CircleX },
  CANCELLED: { word: 'Cancelled', tone: 'quiet', icon: CircleMinus },
  DEFERRED: { word: 'Delayed', tone: 'warn', icon: Hourglass },
}

const events: Record<string, Look> = {
  'email.scheduled': { word: 'Scheduled', tone: 'quiet', icon: CalendarClock },
  'email.rescheduled': { word: 'Rescheduled', tone: 'quiet', icon: CalendarClock },
  'email.cancelled': { word: 'Cancelled', tone: 'quiet', icon: CircleMinus },
  'email.sent': { word: 'Accepted', tone: 'quiet', icon: Send },
  'email.delivered': { word: 'Delivered', tone: 'ok', icon: Check },
  'email.delivery_delayed': { word: 'Delayed', tone: 'warn', icon: Hourglass },
  'email.bounced': { word: 'Bounced', tone: 'bad', icon: Undo2 },
  'email.complained': { word: 'Complained', tone: 'bad', icon: Flag },
  'email.opened': { word: 'Opened', tone: 'info', icon: Eye },
  'email.clicked': { word: 'Clicked', tone: 'info', icon: MousePointerClick },
  'email.failed': { word: 'Failed', tone: 'bad', icon: CircleX },
  'email.suppressed': { word: 'Suppressed', tone: 'bad', icon: Ban },
}

const unknown: Look = { word: '', tone: 'quiet', icon: Clock }

export const lookOfStatus = (status: string): Look => statuses[status] ?? { ...unknown, word: status.toLowerCase() }
export const lookOfEvent = (type: string): Look => events[type] ?? { ...unknown, word: type }

// lookOfEmail summarizes an email: its status, or the event after that.
export function lookOfEmail(e: { status: string; lastEvent: string }): Look {
  const after = e.status === 'DELIVERED' && ['email.opened', 'email.clicked', 'email.complained'].includes(e.lastEvent)
  const delayed = e.status === 'SENT' && e.lastEvent === 'email.delivery_delayed'
  const blocked = e.status === 'FAILED' && e.lastEvent === 'email.suppressed'
  return after || delayed || blocked ? lookOfEvent(e.lastEvent) : lookOfStatus(e.status)
}
