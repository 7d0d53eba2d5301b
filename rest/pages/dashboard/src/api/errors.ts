// ApiError is a failed request, with the error that the server returned.
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly details: Record<string, unknown>
  readonly requestId: string
  readonly upgradeUrl: string
  // retryAfter is the number of seconds to wait before a retry, or 0 if the server sent none.
  readonly retryAfter: number

  constructor(message: string, options: { status?: number; code?: string; details?: Record<string, unknown>; requestId?: string; upgradeUrl?: string; retryAfter?: number } = {}) {
    super(message)
    this.name = 'ApiError'
    this.status = options.status ?? 0
    this.code = options.code ?? ''
    this.details = options.details ?? {}
    this.requestId = options.requestId ?? ''
    this.upgradeUrl = options.upgradeUrl ?? ''
    this.retryAfter = options.retryAfter ?? 0
  }

  // fields contains the validation errors by the path of the field in the request.
  get fields(): Record<string, string> {
    if (this.code !== 'validation_error') return {}
    return Object.fromEntries(Object.entries(this.details).map(([k, v]) => [k, String(v)]))
  }
}

export const unreachableError = () => new ApiError('Can’t reach the server. Retrying automatically.', { code: 'unreachable' })

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong.'
}

export const parseRetryAfter = (response: Response) => Number(response.headers.get('Retry-After')) || 0

// readError returns the error in a response.
export async function readError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('X-Request-Id') ?? ''
  const { status } = response
  try {
    const body = (await response.json()) as { error?: { message?: string; code?: string; details?: Record<string, unknown>; upgrade_url?: string }; errors?: { message: string; extensions?: { code?: string } }[] }
    const first = body.errors?.[0]
    if (body.error) return new ApiError(body.error.message ?? response.statusText, { status, code: body.error.code, details: body.error.details, requestId, upgradeUrl: body.error.upgrade_url, retryAfter: parseRetryAfter(response) })
    if (first) return new ApiError(first.message, { status, code: first.extensions?.code, requestId })
  } catch {
    // not JSON, for example an error page of a proxy
  }
  return new ApiError(`The server returned ${status} ${response.statusText}`.trim(), { status, requestId })
}
