import createClient from 'openapi-fetch'
import { fetchService } from './connection'
import { promptForAuth } from './authPrompt'
import { ApiError, readError, parseRetryAfter } from './errors'
import type { paths } from './rest.gen'

// fetchWithAuth sends a request. If the session has ended or the operation requires confirmation, it
// prompts the user and then sends the request again.
export async function fetchWithAuth(request: Request): Promise<Response> {
  const retry = request.clone()
  const response = await fetchService(request)
  if (response.status === 401 && !request.url.endsWith('/api/session')) {
    return (await promptForAuth('sign-in')) ? fetchWithAuth(retry) : response
  }
  if (response.status === 403) {
    const failure = await readError(response.clone())
    if (failure.code === 'confirmation_required' && (await promptForAuth('confirm'))) return fetchWithAuth(retry)
  }
  return response
}

// rest is the typed REST client: `await unwrap(rest.POST('/webhooks', { body }))`.
export const rest = createClient<paths>({ baseUrl: '/api', fetch: fetchWithAuth })

// unwrap returns the response body or throws ApiError.
export async function unwrap<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call
  if (response.ok) return data as T
  const body = (error as { error?: { message?: string; code?: string; details?: Record<string, unknown>; upgrade_url?: string } } | undefined)?.error
  throw new ApiError(body?.message ?? `The server returned ${response.status}`, {
    status: response.status, code: body?.code, details: body?.details, upgradeUrl: body?.upgrade_url, requestId: response.headers.get('X-Request-Id') ?? '', retryAfter: parseRetryAfter(response),
  })
}

// newIdempotencyKey returns a value for the Idempotency-Key header. Create one per click and reuse it for retries.
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('')
}
