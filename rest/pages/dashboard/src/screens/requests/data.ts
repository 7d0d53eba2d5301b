import { parseTerms } from '@/parts/FilterBar'
import type { ApiRequestFilter, RequestListQuery } from './queries.gen'

export type Row = RequestListQuery['apiRequests']['nodes'][number]
export type Filter = ApiRequestFilter

const classes: Record<string, [number, number]> = { '2xx': [200, 300], '3xx': [300, 400], '4xx': [400, 500], '5xx': [500, 600], failed: [400, 600] }
const names = { method: 'method', path: 'path', key: 'apiKeyId', user: 'userId', request: 'requestId', email: 'emailId' } as const

// filterOf parses the text of the filter. wrong is the reason why it is invalid.
export function filterOf(q: string): { filter: Filter; wrong?: string } {
  const filter: Filter = {}
  for (const { text, field, value } of parseTerms(q)) {
    const bare = value.replaceAll('"', '')
    if (field === 'status') {
      const range = classes[bare.toLowerCase()] ?? (/^[1-5]\d\d$/.test(bare) ? [Number(bare), Number(bare) + 1] : null)
      if (!range) return { filter, wrong: `status: must be 2xx, 3xx, 4xx, 5xx, failed or a number, not “${bare}”` }
      filter.status = { gte: range[0], lt: range[1] }
    } else if (field in names) {
      filter[names[field as keyof typeof names]] = field === 'method' ? bare.toUpperCase() : bare
    } else if (bare.startsWith('/')) {
      filter.path = bare
    } else if (bare.startsWith('msg_')) {
      filter.emailId = bare
    } else if (bare.startsWith('req_')) {
      filter.requestId = bare
    } else {
      return { filter, wrong: `Unknown term “${text}”. Use a path, or one of method: path: status: key: user: email: request:` }
    }
  }
  return { filter }
}
