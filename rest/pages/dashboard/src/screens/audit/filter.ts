import { parseTerms } from '@/parts/FilterBar'
import type { AuditLogFilter } from './queries.gen'

export const hints = ['action:member', 'by:usr_…', 'after:2026-01-31', 'before:2026-12-31']

// filterOf parses the text of the filter bar. It returns the filter, or the reason why the text is invalid.
export function filterOf(text: string): { filter?: AuditLogFilter; wrong?: string } {
  const filter: AuditLogFilter = {}
  const time: { gte?: string; lt?: string } = {}
  for (const term of parseTerms(text)) {
    const value = term.value.replaceAll('"', '')
    if (term.field === 'by') filter.actor = value
    else if (term.field === 'action') filter.action = value
    else if (term.field === 'after' || term.field === 'before') {
      const at = new Date(value)
      if (Number.isNaN(at.getTime())) return { wrong: `${term.field}: must be a date, such as 2026-01-31` }
      time[term.field === 'after' ? 'gte' : 'lt'] = at.toISOString()
    } else if (!term.field && /^[a-z]+\.?[a-z_]*$/i.test(value) && !filter.action) filter.action = value
    else return { wrong: `Unknown term “${term.text}”. Use ${hints[0]}, ${hints[1]}, after: or before:` }
  }
  if (time.gte || time.lt) filter.createdAt = time
  return { filter: Object.keys(filter).length ? filter : undefined }
}
