import { terms } from '@/parts/FilterBar'
import type { ReceivedEmailFilter } from './queries.gen'

export const hints = ['from:', 'to:', 'domain:', 'after:2026-01-31', 'before:2026-12-31']

// filterOf reads the text of the filter bar: what it says, or what is wrong with it.
export function filterOf(text: string): { filter?: ReceivedEmailFilter; wrong?: string } {
  const filter: ReceivedEmailFilter = {}
  const words: string[] = []
  for (const term of terms(text)) {
    const value = term.value.replaceAll('"', '')
    if (term.field === 'from') filter.from = value
    else if (term.field === 'to') filter.to = value
    else if (term.field === 'domain') filter.domain = value
    else if (term.field === 'after' || term.field === 'before') {
      const at = new Date(value)
      if (Number.isNaN(at.getTime())) return { wrong: `${term.field}: wants a date, as 2026-01-31` }
      filter[term.field === 'after' ? 'since' : 'until'] = at.toISOString()
    } else words.push(term.field ? term.text : value)
  }
  if (words.length) filter.q = words.join(' ')
  return { filter: Object.keys(filter).length ? filter : undefined }
}
