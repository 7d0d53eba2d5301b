import { termOf, terms } from '@/parts/FilterBar'
import { isReason } from './look'
import type { SuppressionReason } from './queries.gen'

export interface Filter {
  email: string | null
  reason: SuppressionReason | null
}

// filterOf reads the text of the filter bar, and says what is wrong with it.
export function filterOf(q: string): { filter: Filter; wrong?: string } {
  const reason = termOf(q, 'reason').toUpperCase()
  const words = terms(q).filter((t) => t.field !== 'reason').map((t) => t.text)
  const wrong = reason && !isReason(reason) ? `There is no reason “${reason.toLowerCase()}”: bounce, failure, complaint, unsubscribe or manual.` : words.length > 1 ? 'One address at a time.' : undefined
  return { filter: { email: words[0] ?? null, reason: isReason(reason) ? reason : null }, wrong }
}
