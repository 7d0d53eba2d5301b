import createClient from 'openapi-fetch'
import { reach } from './connection'
import { ask } from './door'
import { Failed, failureOf, retryAfterOf } from './failed'
import type { paths } from './rest.gen'

// A write that meets an ended session, or one that must be confirmed, waits for the person and is
// then sent again as it was.
export async function guarded(request: Request): Promise<Response> {
  const again = request.clone()
  const response = await reach(request)
  if (response.status === 401 && !request.url.endsWith('/api/session')) {
    return (await ask('sign-in')) ? guarded(again) : response
  }
  if (response.status === 403) {
    const why = await failureOf(response.clone())
    if (why.code === 'confirmation_required' && (await ask('confirm'))) return guarded(again)
  }
  return response
}

// rest is the API with its types: `await done(rest.POST('/webhooks', { body }))`.
export const rest = createClient<paths>({ baseUrl: '/api', fetch: guarded })

// done gives the answer's body, or throws Failed.
export async function done<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call
  if (response.ok) return data as T
  const body = (error as { error?: { message?: string; code?: string; details?: Record<string, unknown>; upgrade_url?: string } } | undefined)?.error
  throw new Failed(body?.message ?? `The service answered ${response.status}`, {
    status: response.status, code: body?.code, details: body?.details, upgradeUrl: body?.upgrade_url, requestId: response.headers.get('X-Request-Id') ?? '', retryAfter: retryAfterOf(response),
  })
}

// onceKey is for the header Idempotency-Key: make one for each click, and keep it over retries.
export function onceKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('')
}
