import { fetchService } from '@/api/connection'
import { ApiError } from '@/api/errors'

export interface Result {
  status: number
  ms: number
  text: string
  requestId: string
  failed: boolean
}

// run sends a query with a key and without the session, so that it has the rights of the key.
export async function run(secret: string, query: string, variables: string): Promise<Result> {
  let given: unknown
  try {
    given = variables.trim() ? JSON.parse(variables) : {}
  } catch (error) {
    throw new ApiError(`Variables are not valid JSON: ${error instanceof Error ? error.message : ''}`)
  }
  const began = performance.now()
  const response = await fetchService('/graphql', {
    method: 'POST', credentials: 'omit', cache: 'no-store',
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json', Accept: 'application/graphql-response+json, application/json' },
    body: JSON.stringify({ query, variables: given }),
  })
  const text = await response.text()
  const { pretty, failed } = prettyOf(text)
  return { status: response.status, ms: performance.now() - began, text: pretty, requestId: response.headers.get('X-Request-Id') ?? '', failed: failed || !response.ok }
}

function prettyOf(text: string): { pretty: string; failed: boolean } {
  try {
    const body = JSON.parse(text) as { errors?: unknown[]; error?: unknown }
    return { pretty: JSON.stringify(body, null, 2), failed: Boolean(body.errors?.length || body.error) }
  } catch {
    return { pretty: text, failed: true }
  }
}

// readSchema returns the text of the schema; null if the server does not provide it.
export async function readSchema(signal?: AbortSignal): Promise<string | null> {
  const response = await fetchService('/graphql/schema.graphql', { signal })
  if (!response.ok) return null
  const text = await response.text()
  return /\btype Query\b/.test(text) ? text : null
}
