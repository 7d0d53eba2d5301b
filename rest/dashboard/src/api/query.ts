import { reach } from './connection'
import { requestOf, type Document } from './document'
import { ask, inside, leaveForSignIn } from './door'
import { Failed, failureOf } from './failed'

interface Answer<Data> {
  data?: Data | null
  errors?: { message: string; path?: (string | number)[]; extensions?: { code?: string } }[]
}

const headers = { 'Content-Type': 'application/json', Accept: 'application/graphql-response+json, application/json' }

// query reads. Where the session has ended it asks the person to sign in again, and stays: `asked` says
// that it does what a person has asked for. Before there is a page it leads to the sign-in page.
export async function query<Data, V>(document: Document<Data, V>, variables: V, signal?: AbortSignal, asked = false): Promise<Data> {
  const response = await reach('/graphql', { method: 'POST', headers, body: JSON.stringify(requestOf(document, variables)), signal })
  if (response.status === 401) {
    if (!inside.get()) leaveForSignIn()
    else if (await ask('sign-in', !asked)) return query(document, variables, signal, asked)
    throw await failureOf(response)
  }
  // Who is not let in, or cannot be looked up, is answered in the form of the REST API.
  if (!response.ok || !response.headers.get('Content-Type')?.includes('json')) throw await failureOf(response)
  const answer = (await response.json()) as Answer<Data>
  const first = answer.errors?.[0]
  if (first) throw new Failed(first.message, { status: response.status, code: first.extensions?.code, requestId: response.headers.get('X-Request-Id') ?? '' })
  if (!answer.data) throw new Failed('The service gave no answer', { status: response.status })
  return answer.data
}

// mutate changes something by GraphQL: the queue only, all else is REST.
export const mutate = <Data, V>(document: Document<Data, V>, variables: V) => query(document, variables, undefined, true)

export const keyOf = (document: { name: string }, variables?: unknown): unknown[] => (variables === undefined ? [document.name] : [document.name, variables])

