import { Flag, Hand, MailX, Undo2, Unplug, type LucideIcon } from 'lucide-react'
import type { Tone } from '@/parts/Badge'
import type { SuppressionReason } from './queries.gen'

// The meaning of each reason, and what to consider before you send to the address again.
export const reasons: Record<SuppressionReason, { word: string; tone: Tone; icon: LucideIcon; means: string; before: string }> = {
  BOUNCE: { word: 'Bounce', tone: 'bad', icon: Undo2, means: 'The receiving server rejected it, or retries ran out.', before: 'If the mailbox still doesn’t exist, the next email bounces and suppresses it again.' },
  FAILURE: { word: 'Failure', tone: 'bad', icon: Unplug, means: 'It can’t receive email: the domain doesn’t exist or doesn’t accept email.', before: 'If nothing has changed, the next email fails and suppresses it again.' },
  COMPLAINT: { word: 'Complaint', tone: 'bad', icon: Flag, means: 'The recipient marked a message as spam.', before: 'Only email them again if they asked for it: complaints hurt your domain’s reputation.' },
  UNSUBSCRIBE: { word: 'Unsubscribed', tone: 'warn', icon: MailX, means: 'The recipient unsubscribed from all emails.', before: 'Only email them again if they asked for it.' },
  MANUAL: { word: 'Manual', tone: 'quiet', icon: Hand, means: 'Added here or through the API.', before: 'Emails can be sent to it again.' },
}

export const isReason = (text: string): text is SuppressionReason => text in reasons

export const erased = 'erased address'
