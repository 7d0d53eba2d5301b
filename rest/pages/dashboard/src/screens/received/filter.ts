import { parseTerms } from '@/parts/FilterBar'
import type { ReceivedEmailFilter } from './queries.gen'

export const hints = ['from:', 'to:', 'domain:', 'after:2026-01-31', 'before:2026-12-31']

// filterOf parses the text of the filter bar, which the server evaluates. It returns the query, or why it is invalid.
export function filterOf(text: string): { filter?: ReceivedEmailFilter; wrong?: string } {
  for (const term of parseTerms(text)) {
    if ((term.field === 'after' || term.field === 'before') && Number.isNaN(new Date(term.value.replaceAll('"', '')).getTime()))
      return { wrong: `${term.field}: must be a date, such as 2026-01-31` }
  }
  return { filter: text.trim() ? { query: text.trim() } : undefined }
}
