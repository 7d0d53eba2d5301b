// Attacks the GraphQL endpoint of a running server with the checks of tools such as graphql-cop and InQL. It prints
// every finding and fails if there is one.
const api = process.env.POSTRIDER_API_URL
const base = new URL(api).origin
const url = `${base}/graphql`
const key = process.env.POSTRIDER_API_KEY
const json = { 'Content-Type': 'application/json' }
const bearer = { Authorization: `Bearer ${key}` }

const findings = []
const found = (attack, what) => findings.push(`${attack}: ${what}`)
const times = (n, f) => Array.from({ length: n }, (_, i) => f(i)).join(' ')
let attacks = 0

// send makes one request, with retries while the rate limit applies. It rejects any response with a server error, a
// timeout, content that a browser would run, internal details, or permission for another site to read it.
async function send(attack, init) {
  attacks++
  for (let busy = 0; ; ) {
    const start = performance.now()
    const response = await fetch(init.url ?? url, { method: 'POST', ...init })
    const text = await response.text()
    const took = performance.now() - start
    if (response.status === 429 || (response.status === 503 && busy++ < 5)) { // rate limit, or a busy machine
      await new Promise((done) => setTimeout(done, 1000 * Number(response.headers.get('Retry-After') ?? 1)))
      continue
    }
    if (response.status >= 500) found(attack, `status ${response.status}`)
    if (took > 20_000) found(attack, `took ${Math.round(took)} ms`)
    if (text.length > 64 << 10 && response.status >= 400) found(attack, `an error response of ${text.length} bytes`)
    if (!/json|text\/plain|event-stream/.test(response.headers.get('Content-Type') ?? '')) found(attack, `answers as ${response.headers.get('Content-Type')}`)
    if (response.headers.get('X-Content-Type-Options') !== 'nosniff') found(attack, 'lets browsers guess the media type')
    for (const name of response.headers.keys()) {
      if (name.startsWith('access-control-')) found(attack, `has the header ${name}`)
    }
    if (/goroutine|\.go:\d|panic|pq:|sqlstate|stack/i.test(text) && response.status >= 400) found(attack, `exposes internals: ${text.slice(0, 200)}`)
    let answer = {}
    try {
      answer = JSON.parse(text)
    } catch {
      found(attack, `no JSON: ${text.slice(0, 100)}`)
    }
    if (answer.extensions) found(attack, `extensions of the answer: ${Object.keys(answer.extensions)}`)
    return { status: response.status, text, answer, headers: response.headers, codes: (answer.errors ?? []).map((e) => e.extensions?.code) }
  }
}
const ask = (attack, body, headers = {}) => send(attack, { headers: { ...json, ...bearer, ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body) })

// refused expects an error code and no data.
async function refused(attack, body, ...codes) {
  const got = await ask(attack, body)
  if (got.status !== 400 || got.answer.data || !got.codes.length || !got.codes.every((c) => codes.includes(c))) found(attack, `got ${got.status} ${got.text.slice(0, 300)}, want 400 ${codes.join(' or ')}`)
}

// A plain request works. Otherwise the other checks prove nothing.
const plain = await ask('a plain query', { query: '{ __typename }' })
if (plain.text !== '{"data":{"__typename":"Query"}}') throw new Error(`a plain query got ${plain.status} ${plain.text}`)

const tooMuch = 'query_too_complex'
const bomb = (n, on, last) => times(n - 1, (i) => `fragment F${i} on ${on} { ...F${i + 1} ...F${i + 1} }`) + ` fragment F${n - 1} on ${on} { ${last} }`
for (const [attack, query] of Object.entries({
  '10,000 aliases': `{ ${times(10_000, (i) => `a${i}: __typename`)} }`,
  '16 aliases': `{ ${times(16, (i) => `a${i}: __typename`)} }`,
  'a field 10,000 times': `{ ${times(10_000, () => '__typename')} }`,
  'a field 1,500 times, deeper': `{ viewer { ${times(1_500, () => 'can')} } }`,
  '21 root fields': `{ ${times(21, () => '__typename')} }`,
  'directives overloaded': `{ __typename ${times(900, (i) => `@a${i}`)} }`,
  '@skip 300 times': `{ __typename ${times(300, () => '@skip(if: false)')} }`,
  '@include by variables': `query($a: Boolean = true) { ${times(40, () => 'viewer @include(if: $a) { can }')} }`,
  'nesting': `{ viewer ${'{ account '.repeat(500)}{ id }${' }'.repeat(500)} }`,
  'nesting of lists': `query($a: ${'['.repeat(900)}Int${']'.repeat(900)}) { __typename }`,
  'nesting of values': `{ emails(first: ${'['.repeat(900)}1${']'.repeat(900)}) { nodes { id } } }`,
  'circular introspection': `{ __schema { ${'types { fields { type { '.repeat(8)} name ${'} } }'.repeat(8)} } }`,
  'a fragment bomb': `{ ...F0 } ${bomb(60, 'Query', '__typename')}`,
  'a fragment bomb of introspection': `{ __schema { types { ...F0 } } } ${bomb(60, '__Type', 'name')}`,
  'an unused fragment bomb': `{ __typename } ${bomb(60, 'Query', '__typename')}`,
  'many operations': times(400, (i) => `query A${i} { viewer { can } }`),
  'many fragments': `{ __typename } ${times(500, (i) => `fragment F${i} on Query { __typename }`)}`,
  'many variables': `query(${times(1_000, (i) => `$v${i}: Int`)}) { __typename }`,
  'many tokens': `{ ${'a '.repeat(30_000)}}`,
  'a long text': `{ __typename } #${'x'.repeat(70_000)}`,
  'the most expensive page': '{ emails(first: 100) { nodes { content { html text } } } }',
})) await refused(attack, { query, operationName: attack === 'many operations' ? 'A1' : undefined }, tooMuch, 'validation_error')

for (const [attack, query] of Object.entries({
  'a circular fragment': '{ ...A } fragment A on Query { ...A }',
  'circular fragments': '{ ...A } fragment A on Query { ...B } fragment B on Query { ...C } fragment C on Query { ...A }',
  'an unknown directive': '{ __typename @debug }',
  '@defer': '{ ... @defer { viewer { can } } }',
  '@stream': '{ emails { nodes @stream { id } } }',
  'an unknown mutation': 'mutation { createApiKey(name: "x") { token } }',
  'an unsupported operation': 'subscription { emails { id } }',
  'nothing': '   ',
  'NUL': '{ __typename \u0000 }',
})) await refused(attack, { query }, 'validation_error')
await refused('an unknown operation', { query: 'query A { __typename }', operationName: 'B' }, 'validation_error')
await refused('an operation with a strange name', { query: 'query A { __typename }', operationName: '\u202e<script>' }, 'validation_error')

// Persisted queries: clients cannot store a query, and only hashes of the dashboard's documents work.
const hash = 'a'.repeat(64)
await refused('a persisted query', { extensions: { persistedQuery: { version: 1, sha256Hash: hash } } }, 'validation_error')
await ask('a persisted query that is stored', { query: '{ __typename }', extensions: { persistedQuery: { version: 1, sha256Hash: hash } } })
await refused('a persisted query that was stored', { extensions: { persistedQuery: { version: 1, sha256Hash: hash } } }, 'validation_error')
for (const documentId of [`sha256:${hash}`, hash, '__proto__', 'sha256:', '../../etc/passwd', 'x'.repeat(100_000)]) await refused(`the document ${documentId.slice(0, 20)}`, { documentId }, 'unknown_document')

// Values of variables.
const one = 'query($v: Int) { emails(first: $v) { nodes { id } } }'
const text = 'query($v: String) { emails(after: $v) { nodes { id } } }'
const id = 'query($v: ID!) { email(id: $v) { id } }'
for (const v of [1e308, -1e308, 99999999999999999999, 2 ** 31, -1, 0.5, '1', 'x'.repeat(500_000), [], {}, [[[[1]]]], true, null, '\u0000', '\ud800', '\u202e', "' OR 1=1 --", '{{7*7}}', '../../etc/passwd', '%00']) {
  for (const query of [one, text, id]) {
    const got = await ask(`the variable ${JSON.stringify(v).slice(0, 30)}`, { query, variables: { v } })
    if (got.codes.some((c) => !['validation_error', 'not_found'].includes(c))) found(`the variable ${JSON.stringify(v).slice(0, 30)}`, `got ${got.text.slice(0, 200)}`)
  }
}
for (const raw of ['1e999', '-0', '1'.repeat(400_000), '"\\ud800"', '{"a":'.repeat(9_000) + '1' + '}'.repeat(9_000), '['.repeat(200_000) + ']'.repeat(200_000)]) {
  await ask(`the raw variable ${raw.slice(0, 20)}`, `{"query":${JSON.stringify(one)},"variables":{"v":${raw}}}`)
}
await ask('100,000 undeclared variables', { query: '{ __typename }', variables: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`v${i}`, i])) })
await ask('hidden members', '{"query":"{ __typename }","__proto__":{"admin":true},"constructor":{},"variables":{"__proto__":{"x":1}}}')

// Responses echo nothing from the request, neither values nor long names.
const marker = 'hunter2'
const long = marker.repeat(40)
for (const [attack, body] of Object.entries({
  'a variable of the wrong type': { query: one, variables: { v: marker } },
  'a variable of the wrong type, nested': { query: 'query($v: EmailFilter) { emails(filter: $v) { nodes { id } } }', variables: { v: { status: marker } } },
  'an invalid date': { query: 'query($v: DateTime!) { emailStatistics(range: {gte: $v, lt: $v}) { totals { accepted } } }', variables: { v: marker } },
  'a literal of the wrong type': { query: `{ emails(first: "${marker}") { nodes { id } } }` },
  'an invalid enum literal': { query: `{ emails(filter: {status: "${marker}"}) { nodes { id } } }` },
  'an invalid date literal': { query: `{ emailStatistics(range: {gte: "${marker}", lt: "${marker}"}) { totals { accepted } } }` },
  'a cursor': { query: `{ emails(after: "${marker}") { nodes { id } } }` },
  'a field with a long name': { query: `{ ${long} }` },
  'a type with a long name': { query: `{ ... on ${long} { id } }` },
  'a fragment with a long name': { query: `{ ...${long} }` },
  'an argument with a long name': { query: `{ viewer(${long}: 1) { can } }` },
  'a directive with a long name': { query: `{ __typename @${long} }` },
  'a variable with a long name': { query: `{ email(id: $${long}) { id } }` },
  'a member of a variable with a long name': { query: 'query($v: EmailFilter) { emails(filter: $v) { nodes { id } } }', variables: { v: { [long]: 1 } } },
  'an operation with a long name': { query: '{ __typename }', operationName: long },
  'an id of a document': { documentId: `sha256:${long}` },
  'a text that is one long name': { query: marker.repeat(3_000) },
  'a string without an end': { query: `{ email(id: "${long}` },
  'a body that is no JSON': marker,
  'a body of the wrong shape': { query: { [marker]: 1 } },
  'a batch': [{ query: marker }],
})) {
  const got = await ask(attack, body)
  const echo = got.text.includes(long) || (!/long name/.test(attack) && got.text.includes(marker))
  if (echo) found(attack, `the answer has what was sent: ${got.text.slice(0, 300)}`)
  if (got.text.length > 2_000) found(attack, `a response of ${got.text.length} bytes`)
}
const many = await ask('many mistakes', { query: `{ ${times(19, (i) => `wrong${i} { a b c }`)} }` })
if (many.answer.errors?.length > 10) found('many mistakes', `${many.answer.errors.length} errors are reported`)

// Requests that a page of another site can make without a preflight.
const query = '{"query":"{ __typename }"}'
for (const media of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/graphql', '']) {
  const form = media.includes('urlencoded') ? 'query={__typename}' : query
  const got = await send(`POST of ${media || 'no type'}`, { headers: { ...bearer, 'Content-Type': media }, body: new TextEncoder().encode(form) })
  if (got.status !== 415) found(`POST of ${media}`, `got ${got.status}, want 415`)
}
for (const [attack, address, status] of [
  ['GET', `${url}?query={__typename}`, 200],
  ['GET of a mutation', `${url}?query=mutation{holdDelivery(selection:{all:true}){changed}}`, 405],
  ['GET as a browser', url, 400],
]) {
  const got = await send(attack, { url: address, method: 'GET', headers: { ...bearer, Accept: 'text/html' } })
  if (got.status !== status) found(attack, `got ${got.status}, want ${status}`)
  if (got.headers.get('Cache-Control') !== 'no-store') found(attack, 'may be cached')
  if (/<html|graphiql|playground/i.test(got.text)) found(attack, 'shows a page')
}
const override = await send('a method by header', { method: 'GET', headers: { ...bearer, 'X-HTTP-Method-Override': 'POST' }, url: `${url}?query=mutation{holdDelivery(selection:{all:true}){changed}}` })
if (override.status !== 405) found('a method by header', `got ${override.status}`)
const preflight = await send('a preflight', { method: 'OPTIONS', headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'content-type' } })
if (preflight.status < 400) found('a preflight', `got ${preflight.status}`)
for (const path of ['/graphiql', '/playground', '/altair', '/voyager', '/graphql/console', '/graphql-explorer', '/api/graphql', '/graphql/', '/v1/graphql', '/graph']) {
  const response = await fetch(base + path, { headers: { Accept: 'text/html' }, redirect: 'manual' })
  attacks++
  if (/graphiql|graphql.playground|apollo.sandbox|altair/i.test(await response.text()) && response.ok) found(path, 'shows an explorer')
  if (!(response.status >= 400 || (response.headers.get('Content-Type') ?? '').startsWith('text/html'))) found(path, `answers ${response.status}`)
}

// Batches, as an array and as several bodies.
await refused('a batch', [{ query: '{ __typename }' }, { query: '{ __typename }' }], 'validation_error')
await refused('a batch of 10,000', Array.from({ length: 10_000 }, () => ({ query: '{ __typename }' })), 'validation_error')
await refused('two bodies', `${query}${query}`, 'validation_error')

// Bodies.
const big = await ask('a body of 2 MB', { query: '{ __typename }', variables: { x: 'x'.repeat(2 << 20) } })
if (big.status !== 413) found('a body of 2 MB', `got ${big.status}, want 413`)
for (const coding of ['gzip', 'deflate', 'br', 'x-evil']) {
  const got = await ask(`a body in ${coding}`, query, { 'Content-Encoding': coding })
  if (got.status === 200) found(`a body in ${coding}`, 'is taken for what it is not')
}

// Unauthenticated requests.
for (const [attack, headers] of Object.entries({
  'without a key': {}, 'with a wrong key': { Authorization: 'Bearer svc_wrong' }, 'with an invalid cookie': { Cookie: 'postrider_session=x' },
  'with a key in the address': {},
})) {
  const got = await send(attack, { headers: { ...json, ...headers }, body: '{"query":"{ __schema { types { name } } nothing }"}', url: attack.includes('address') ? `${url}?access_token=${key}&api_key=${key}` : url })
  if (got.status !== 401 || /mean|Query|__schema/.test(got.text)) found(attack, `got ${got.status} ${got.text.slice(0, 200)}, want 401`)
}

// A session cookie on a request from another site.
const signedIn = await fetch(`${api}/session`, {
  method: 'POST', headers: { ...json, Origin: base }, body: JSON.stringify({ email: process.env.POSTRIDER_OWNER_EMAIL, password: process.env.POSTRIDER_OWNER_PASSWORD }),
})
const cookie = signedIn.headers.getSetCookie().map((c) => c.split(';')[0]).join('; ')
if (!cookie) throw new Error(`sign-in got ${signedIn.status}`)
const own = await send('a session of our page', { headers: { ...json, Cookie: cookie, Origin: base }, body: query })
if (own.status !== 200) throw new Error(`a session got ${own.status} ${own.text}`)
for (const [attack, headers] of Object.entries({
  'a session from elsewhere': { Origin: 'https://evil.example' }, 'a session without an origin': {}, 'a session of the origin null': { Origin: 'null' },
  'a session from a site with our name in it': { Origin: `${base}.evil.example` }, 'a session by text/plain': { Origin: base, 'Content-Type': 'text/plain' },
})) {
  const got = await send(attack, { headers: { ...json, Cookie: cookie, ...headers }, body: query })
  if (got.status === 200) found(attack, 'was answered')
}

// Subscriptions: up to the limit of an account, and no more.
const open = []
const follow = (signal) => fetch(url, { method: 'POST', signal, headers: { ...json, ...bearer, Accept: 'text/event-stream' }, body: JSON.stringify({ query: 'subscription { events { id } }' }) })
let flooded
for (let i = 0; i < 60 && !flooded; ) {
  const stop = new AbortController()
  const response = await follow(stop.signal)
  if (response.ok && response.headers.get('Content-Type').startsWith('text/event-stream')) {
    open.push(stop)
    i++
    continue
  }
  const said = await response.text()
  if (response.status === 429 && !/open/.test(said)) { // rate limit
    await new Promise((done) => setTimeout(done, 1000 * Number(response.headers.get('Retry-After') ?? 1)))
    continue
  }
  flooded = said
}
for (const stop of open) stop.abort()
if (!flooded) found('many subscriptions', `${open.length} were opened`)
else if (!flooded.includes('rate_limit_exceeded')) found('many subscriptions', `were refused with ${flooded.slice(0, 200)}`)
await refused('a subscription with two fields', { query: 'subscription { a: events { id } b: events { id } }' }, 'validation_error')
await refused('a subscription with 10,000 fields', { query: `subscription { ${times(10_000, (i) => `a${i}: events { id }`)} }` }, tooMuch)

// Afterwards the server works as before.
const last = await ask('a plain query', { query: '{ __typename }' })
if (last.text !== plain.text) found('the end', `a plain query got ${last.status} ${last.text}`)

if (findings.length) {
  console.error(`GraphQL has ${findings.length} findings:\n${findings.join('\n')}`)
  process.exit(1)
}
console.log(`clients: GraphQL: ${attacks} attacks, 0 findings`)
