// Starts GraphiQL. Requests are sent with the headers of its editor, and with the session, whose own queries the server
// accepts in development only.
'use strict'

const root = document.getElementById('explorer')
const open = root.dataset.open === 'true'

// readEvents returns the results of a subscription, which are Server-Sent Events.
async function* readEvents(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      text += value
      for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
        const data = text.slice(0, end).split('\n').find((line) => line.startsWith('data: '))
        if (data) yield JSON.parse(data.slice('data: '.length))
      }
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

async function fetcher(parameters, { documentAST, headers } = {}) {
  const hasKey = Object.keys(headers ?? {}).some((name) => name.toLowerCase() === 'authorization')
  if (!open && !hasKey) {
    return { errors: [{ message: 'Add an API key under Headers, as {"Authorization": "Bearer svc_…"}, then run the query. To load the documentation, select "Re-fetch GraphQL schema".' }] }
  }
  const streams = documentAST?.definitions.some((d) => d.operation === 'subscription' && (!parameters.operationName || d.name?.value === parameters.operationName))
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: streams ? 'text/event-stream' : 'application/graphql-response+json, application/json', ...headers },
    body: JSON.stringify(parameters),
  })
  return response.headers.get('Content-Type') === 'text/event-stream' ? readEvents(response) : response.json()
}

ReactDOM.createRoot(root).render(
  React.createElement(GraphiQL, {
    fetcher,
    defaultQuery: '{\n  viewer { can }\n  emails(first: 10) { nodes { id subject status } }\n}\n',
    defaultEditorToolsVisibility: 'headers',
    isHeadersEditorEnabled: true,
    shouldPersistHeaders: false, // they contain API keys
  }),
)
