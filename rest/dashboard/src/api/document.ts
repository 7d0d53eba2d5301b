// Document is a GraphQL operation that code generation knows: what it answers and what it wants. A
// build names it by its id alone; while developing the server may not know it yet and gets the text.
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

export function requestOf<V>(document: Document<unknown, V>, variables: V) {
  return { documentId: document.id, operationName: document.name, variables, query: document.text }
}
