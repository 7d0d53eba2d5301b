// Runs queries with urql, which sends them by GET, and operations over WebSocket with graphql-ws.
import { Client, cacheExchange, fetchExchange } from '@urql/core'
import { createClient } from 'graphql-ws'
import { strict as assert } from 'node:assert'
import WebSocket from 'ws'

const base = new URL(process.env.POSTRIDER_API_URL).origin
const Authorization = `Bearer ${process.env.POSTRIDER_API_KEY}`
const email = { from: 'hello@dev.test', to: ['bob@example.net'], subject: 'Hello', text: 'Hello' }
const send = 'mutation Send($email: SendEmailInput!, $key: String) { sendEmail(email: $email, idempotencyKey: $key) { id status replayed } }'

// urql
const methods = []
const urql = new Client({
  url: `${base}/graphql`,
  preferGetMethod: 'within-url-limit',
  exchanges: [cacheExchange, fetchExchange],
  fetchOptions: { headers: { Authorization } },
  fetch: (url, init) => (methods.push(init.method), fetch(url, init)),
})
const query = 'query Emails($first: Int) { viewer { can } emails(first: $first) { nodes { id subject } } }'
const listed = await urql.query(query, { first: 2 }).toPromise()
assert.equal(listed.error, undefined)
assert(listed.data.viewer.can.includes('SEND'))
const key = `urql-${Date.now()}`
const sent = await urql.mutation(send, { email, key }).toPromise()
assert.equal(sent.error, undefined)
assert.equal(sent.data.sendEmail.status, 'SENT')
const again = await urql.mutation(send, { email, key }).toPromise()
assert.deepEqual({ ...again.data.sendEmail, __typename: undefined }, { ...sent.data.sendEmail, replayed: true, __typename: undefined })
const refused = await urql.mutation(send, { email: { ...email, to: ['no-address'] } }).toPromise()
assert.equal(refused.error.graphQLErrors[0].extensions.code, 'validation_error')
assert(refused.error.graphQLErrors[0].extensions.details['to[0]'])
assert.deepEqual(methods, ['GET', 'POST', 'POST', 'POST'])
const byGET = await fetch(`${base}/graphql?${new URLSearchParams({ query: send, variables: JSON.stringify({ email }) })}`, { headers: { Authorization } })
assert.equal(byGET.status, 405)
assert.equal(byGET.headers.get('Allow'), 'POST')

// graphql-ws
const connect = (connectionParams) => createClient({ url: `${base.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket, connectionParams, retryAttempts: 0 })
const one = (client, payload) => new Promise((resolve, reject) => {
  let result
  client.subscribe(payload, { next: (value) => { result = value }, error: reject, complete: () => resolve(result) })
})
const socket = connect({ Authorization })
assert.deepEqual((await one(socket, { query: '{ viewer { can } }' })).data.viewer, { can: listed.data.viewer.can })
const events = socket.iterate({ query: 'subscription { events(types: ["email.sent"]) { type data } }' })
const first = events.next()
await one(socket, { query: '{ __typename }' })
let id
const sending = setInterval(async () => { id = (await one(socket, { query: send, variables: { email } })).data.sendEmail.id }, 500)
const { value } = await first
clearInterval(sending)
assert.equal(value.data.events.type, 'email.sent')
await events.return()
await assert.rejects(one(socket, { query: '{ none }' }), (errors) => errors[0].extensions.code === 'validation_error')
await socket.dispose()
await assert.rejects(one(connect({ Authorization: 'Bearer svc_wrong' }), { query: '{ __typename }' }), (close) => close.code === 4401)
console.log(`clients: GraphQL: urql ${methods.join(' ')}, graphql-ws: query, mutation, subscription (${id ? 'while sending' : 'first event'})`)
process.exit(0)
