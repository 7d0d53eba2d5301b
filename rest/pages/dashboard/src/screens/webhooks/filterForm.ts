import type { WebhookRowFragment } from './queries.gen'

// Filter is the filter of an endpoint in a form: tags are a text with one on each line.
export interface Filter { domain_ids: string[]; template_ids: string[]; automation_ids: string[]; tags: string }

export const toFilter = (f: WebhookRowFragment['filter']): Filter => ({
  domain_ids: f?.domainIds ?? [], template_ids: f?.templateIds ?? [], automation_ids: f?.automationIds ?? [],
  tags: (f?.tags ?? []).map((t) => (t.value ? `${t.name}=${t.value}` : t.name)).join('\n'),
})

// filterBody is the filter of a request: null if it matches every event.
export function filterBody(f: Filter) {
  const tags = f.tags.split('\n').map((line) => line.trim()).filter(Boolean).map((line) => {
    const at = line.indexOf('=')
    return at < 0 ? { name: line } : { name: line.slice(0, at).trim(), value: line.slice(at + 1).trim() || null }
  })
  const lists = { domain_ids: f.domain_ids, template_ids: f.template_ids, automation_ids: f.automation_ids, tags }
  return Object.values(lists).some((list) => list.length > 0) ? lists : null
}

export const headersText = (headers: { name: string; value: string }[]) => headers.map((h) => `${h.name}: ${h.value}`).join('\n')

// parseHeaders reads header fields, one on each line. A line without a colon has an empty value, which the API refuses.
export function parseHeaders(text: string): Record<string, string> {
  return Object.fromEntries(text.split('\n').map((line) => line.trim()).filter(Boolean).map((line) => {
    const at = line.indexOf(':')
    return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
  }))
}

// errorsOf joins the errors of a field and of its parts, such as headers.Authorization or filter.tags[0].
export const errorsOf = (errors: Record<string, string>, field: string) =>
  Object.entries(errors).filter(([path]) => path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`))
    .map(([path, message]) => (path === field ? message : `${path.slice(field.length).replace(/^\./, '')} ${message}`)).join('; ') || undefined
