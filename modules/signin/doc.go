// Package signin authenticates users: sessions, passwords, second factors and links.
//
// # Sessions
//
// A session cookie is 256 random bits; the database stores their SHA-256. A session ends after 7 days without
// use and after 30 days in total. Every sign-in and every confirmation issues a new cookie. Person uses a
// cache with a TTL of three seconds, so a sign-out, a removed member or a disabled user takes effect on every
// node within five seconds. Requests never write a whole session row, so a request that is in progress during
// a sign-out cannot revive the session.
//
// # Links
//
// A link carries 256 random bits in the URL fragment, which keeps them out of logs and the Referer header. It
// works once and for one purpose. A request for a link inserts one row and returns the same response for known
// and unknown emails. A worker later decides whether to send the link, and creates the token and queues the
// email in one transaction. So neither responses nor response times reveal whether an address is known, and no
// email is lost or sent twice. If no user has the email, the worker asks the other cells (package cells).
//
// # Trust
//
// A change of credentials ends the user's other sessions, links and pending changes (package trust). Code
// that changes a user, or uses one of their links, locks the user row first, then links, then accounts.
//
// # Guessing
//
// Failures are counted across all processes by email and network, by network, and by email (package
// guessing). Attempts over a limit are rejected before a password is hashed. Unknown emails count and cost
// the same as known ones. Known browsers (package devices) and sessions have their own counters, so strangers
// cannot lock a user out. Links, passkeys and external providers are not counted.
//
// # First access and recovery
//
// The first user signs in with a set-up link, which `serve` prints until some user can sign in. There is no
// default password. An operator creates a link for a locked-out user with `postrider admin user link`.
package signin
