import { Flag, Hand, MailX, Undo2, Unplug, type LucideIcon } from 'lucide-react'
import type { Tone } from '@/parts/Badge'
import type { SuppressionReason } from './queries.gen'

// What each reason means, and what to think of before the address is written to again.
export const reasons: Record<SuppressionReason, { word: string; tone: Tone; icon: LucideIcon; means: string; before: string }> = {
  BOUNCE: { word: 'Bounce', tone: 'bad', icon: Undo2, means: 'A receiving server refused it, or retries ran out.', before: 'If the mailbox does still not exist, the next email bounces again and suppresses it anew.' },
  FAILURE: { word: 'Failure', tone: 'bad', icon: Unplug, means: 'It cannot receive mail: there is no such domain, or it takes none.', before: 'If nothing has changed there, the next email fails and suppresses it anew.' },
  COMPLAINT: { word: 'Complaint', tone: 'bad', icon: Flag, means: 'The recipient marked a message as spam.', before: 'Write to them again only when they have asked for it: complaints cost the reputation of the domain.' },
  UNSUBSCRIBE: { word: 'Unsubscribed', tone: 'warn', icon: MailX, means: 'The recipient unsubscribed from all mail.', before: 'Write to them again only when they have asked for it.' },
  MANUAL: { word: 'By hand', tone: 'quiet', icon: Hand, means: 'It was added here or through the API.', before: 'Emails may be sent to it again.' },
}

export const isReason = (text: string): text is SuppressionReason => text in reasons

export const erased = 'erased address'
