// Document is a generated GraphQL operation with the types of its variables and result. A production
// build sends only its id. During development the server may not know the id, so the text is sent too.
export interface Document<Data, Variables> {
  name: string
  id: string
  text?: string
  readonly data?: Data
  readonly variables?: Variables
}

export function gql<Data, Variables>(name: string, hash: string, text?: string): Document<Data, Variables> {
  return { name, id: `sha256:${hash}`, text }
}

export function buildRequest<V>(document: Document<unknown, V>, variables: V) {
  return { documentId: document.id, operationName: document.name, variables, query: document.text }
}
