import { fetchService } from './connection'
import { buildRequest, type Document } from './document'
import { promptForAuth, appShown, redirectToSignIn } from './authPrompt'
import { ApiError, readError } from './errors'
import { takePreloaded } from './preloaded'

interface GraphQLResponse<Data> {
  data?: Data | null
  errors?: { message: string; path?: (string | number)[]; extensions?: { code?: string; details?: Record<string, unknown> } }[]
}

const headers = { 'Content-Type': 'application/json', Accept: 'application/graphql-response+json, application/json' }

// query runs a GraphQL query. If the session has ended, it prompts the user to sign in again, or
// redirects to the sign-in page if no page is shown yet. `userInitiated` always prompts.
export async function query<Data, V>(document: Document<Data, V>, variables: V, signal?: AbortSignal, userInitiated = false): Promise<Data> {
  const known = takePreloaded(document.name, variables)
  if (known) return known as Data
  const response = await fetchService('/graphql', { method: 'POST', headers, body: JSON.stringify(buildRequest(document, variables)), signal })
  if (response.status === 401) {
    if (!appShown.get()) redirectToSignIn()
    else if (await promptForAuth('sign-in', !userInitiated)) return query(document, variables, signal, userInitiated)
    throw await readError(response)
  }
  // Authentication errors have the format of the REST API.
  if (!response.ok || !response.headers.get('Content-Type')?.includes('json')) throw await readError(response)
  const result = (await response.json()) as GraphQLResponse<Data>
  const first = result.errors?.[0]
  if (first) throw new ApiError(first.message, { status: response.status, code: first.extensions?.code, details: first.extensions?.details, requestId: response.headers.get('X-Request-Id') ?? '' })
  if (!result.data) throw new ApiError('The server returned no data', { status: response.status })
  return result.data
}

// mutate runs a GraphQL mutation. Only the queue uses it; all other writes use REST.
export const mutate = <Data, V>(document: Document<Data, V>, variables: V) => query(document, variables, undefined, true)

export const buildQueryKey = (document: { name: string }, variables?: unknown): unknown[] => (variables === undefined ? [document.name] : [document.name, variables])

