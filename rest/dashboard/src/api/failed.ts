// Failed is a request that was not done, with the words of the service.
export class Failed extends Error {
  readonly status: number
  readonly code: string
  readonly details: Record<string, unknown>
  readonly requestId: string
  readonly upgradeUrl: string
  // retryAfter is in how many seconds it is worth trying again; 0: unsaid.
  readonly retryAfter: number

  constructor(message: string, more: { status?: number; code?: string; details?: Record<string, unknown>; requestId?: string; upgradeUrl?: string; retryAfter?: number } = {}) {
    super(message)
    this.name = 'Failed'
    this.status = more.status ?? 0
    this.code = more.code ?? ''
    this.details = more.details ?? {}
    this.requestId = more.requestId ?? ''
    this.upgradeUrl = more.upgradeUrl ?? ''
    this.retryAfter = more.retryAfter ?? 0
  }

  // fields are what is wrong with each field of a form, by its path in the request.
  get fields(): Record<string, string> {
    if (this.code !== 'validation_error') return {}
    return Object.fromEntries(Object.entries(this.details).map(([k, v]) => [k, String(v)]))
  }
}

export const away = () => new Failed('The service cannot be reached. It is tried again by itself.', { code: 'unreachable' })

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong here.'
}

export const retryAfterOf = (response: Response) => Number(response.headers.get('Retry-After')) || 0

// failureOf reads what a refusal says.
export async function failureOf(response: Response): Promise<Failed> {
  const requestId = response.headers.get('X-Request-Id') ?? ''
  const { status } = response
  try {
    const body = (await response.json()) as { error?: { message?: string; code?: string; details?: Record<string, unknown>; upgrade_url?: string }; errors?: { message: string; extensions?: { code?: string } }[] }
    const first = body.errors?.[0]
    if (first) return new Failed(first.message, { status, code: first.extensions?.code, requestId })
    if (body.error) return new Failed(body.error.message ?? response.statusText, { status, code: body.error.code, details: body.error.details, requestId, upgradeUrl: body.error.upgrade_url, retryAfter: retryAfterOf(response) })
  } catch {
    // not JSON: a proxy's page
  }
  return new Failed(`The service answered ${status} ${response.statusText}`.trim(), { status, requestId })
}
