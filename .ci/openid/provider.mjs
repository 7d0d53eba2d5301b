// An OpenID Connect provider for the sign-in tests: `node provider.mjs REDIRECT_URI`, optionally with a port. It
// requires PKCE and prints {"issuer": …} once it listens. Its pages ask for a login, which is an email, and for consent.
// A login that starts with "unverified" has an unverified email, and one that starts with "none" has no email. The
// provider exits when its standard input closes.
import { createServer } from 'node:http'
import Provider from 'oidc-provider'

const [redirect, port] = process.argv.slice(2)
const server = createServer()
await new Promise((listening) => server.listen(Number(port ?? 0), '127.0.0.1', listening))
const issuer = `http://127.0.0.1:${server.address().port}`
const provider = new Provider(issuer, {
  clients: [{ client_id: 'postrider', client_secret: 'the secret of the tests', redirect_uris: [redirect], grant_types: ['authorization_code'], response_types: ['code'] }],
  pkce: { required: () => true },
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  cookies: { keys: ['of the tests only'] },
  async findAccount(_, sub) {
    const email = sub.startsWith('none') ? {} : { email: sub, email_verified: !sub.startsWith('unverified') }
    return { accountId: sub, claims: async () => ({ sub, name: 'Somebody', ...email }) }
  },
})
server.on('request', provider.callback())
process.stdin.on('end', () => process.exit(0)).resume()
console.log(JSON.stringify({ issuer }))
