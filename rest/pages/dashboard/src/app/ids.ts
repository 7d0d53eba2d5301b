const page = (prefix: string, name: string, path: (id: string) => string): [RegExp, string, (id: string) => string] => [new RegExp(`^${prefix}_[0-9a-z]{26}$`), name, path]

const idPages = [
  page('msg', 'email', (id) => `/emails/${id}`),
  page('inb', 'received email', (id) => `/received/${id}`),
  page('dom', 'domain', (id) => `/domains/${id}`),
  page('tpl', 'template', (id) => `/templates/${id}`),
  page('aut', 'automation', (id) => `/automations/${id}`),
  page('run', 'run', (id) => `/automations/runs/${id}`),
  page('ae', 'event', (id) => `/events/${id}`),
  page('wh', 'webhook endpoint', (id) => `/webhooks/${id}`),
  page('sup', 'suppression', (id) => `/suppressions/${id}`),
  page('opt', 'category opt-out', () => '/suppressions?tab=opt-outs'),
  page('key', 'API key', (id) => `/keys/${id}`),
  page('smtp', 'SMTP credential', () => '/keys?tab=smtp'),
  page('usr', 'activity of this user', (id) => `/audit-log?q=by:${id}`),
  page('aud', 'audit log entry', (id) => `/audit-log?q=${id}&open=${id}`),
  page('inv', 'invitations', () => '/team'),
]
const others: typeof idPages = [
  [/^req_\w+$/, 'API request', (id) => `/requests?q=request:${id}`],
  [/^[^\s@<>:]+@[^\s@<>:]+\.[^\s@<>:]+$/, 'address', (address) => `/addresses/${encodeURIComponent(address)}`],
]

export interface IdPage {
  id: string
  name: string
  // path is the page of the object, with its search parameters.
  path: string
}

// findPage returns the page of an ID, of a Message-ID that Postrider wrote, or of an address.
export function findPage(text: string): IdPage | undefined {
  const word = text.trim().replace(/^<|>$/g, '')
  const id = /^msg_\w{26}@/.test(word) ? word.slice(0, 30) : word
  const found = [...idPages, ...others].find(([pattern]) => pattern.test(id))
  return found && { id, name: found[1], path: found[2](id) }
}

// needsLookup reports whether only the server knows the page of an ID: of an event of an email, or a webhook delivery.
export const needsLookup = (text: string) => /^(evt|whd)_[0-9a-z]{26}$/.test(text.trim())

// pageOfId returns the page of an object, or nothing for an ID without a page of its own.
export const pageOfId = (id: string): string | undefined => idPages.find(([pattern]) => pattern.test(id))?.[2](id)
