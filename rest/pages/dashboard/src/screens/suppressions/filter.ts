import { termValue, parseTerms } from '@/parts/FilterBar'
import { isReason } from './look'
import type { SuppressionReason } from './queries.gen'

export interface Filter {
  email: string | null
  reason: SuppressionReason | null
}

// filterOf parses the text of the filter bar and returns its errors.
export function filterOf(q: string): { filter: Filter; wrong?: string } {
  const reason = termValue(q, 'reason').toUpperCase()
  const words = parseTerms(q).filter((t) => t.field !== 'reason').map((t) => t.text)
  const wrong = reason && !isReason(reason) ? `Unknown reason “${reason.toLowerCase()}”. Use bounce, failure, complaint, unsubscribe or manual.` : words.length > 1 ? 'Enter one address at a time.' : undefined
  return { filter: { email: words[0] ?? null, reason: isReason(reason) ? reason : null }, wrong }
}
