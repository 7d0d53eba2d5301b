// Package accounts knows who the customers of an installation are, what their
// plan allows and which API keys speak for them.
//
// # Words
//
// An account is a tenant: everything a customer has names its account. A user
// is a person of an account; the one made with it is its owner. A plan is a row
// of limits (requests per second, emails per day and month, domains), data that
// an operator may change. An API key is a bearer credential of an account with
// a scope and, optionally, a list of domains that it may send from.
//
// The account email is the only address that a sandboxed account may write to.
// It is kept in lower case and is unique in the installation.
//
// # Keys
//
// A secret is `svc_` and a random token. It is shown once; the row keeps its
// SHA-256 and its first twelve characters. 256 random bits need no slow hash.
// EnsureKey adopts a secret that already exists, for development mode, whose
// data directory remembers the secret between starts.
//
// Authenticate answers from a cache of at most CacheTTL (3 s), so a revocation,
// an expiry or a suspension takes effect on every process within 5 s, and at
// once on the process that did it. Unknown keys are remembered as well. A string
// that cannot be a key never reaches the database. Expiry follows the database
// clock, also while cached.
//
// What does not work is one answer, Unauthorized, whatever the reason. A database
// that is away is Away and never Unauthorized, so that nobody throws away a good
// key.
//
// Keys of a suspended account go on working for everything but sending, which is
// Forbidden with the code `account_suspended`: its people can read what happened,
// cancel what is scheduled and put their house in order.
//
// last_used_at is written at most every 30 s in one statement for all keys, and
// once more at stop. It may lag behind and, when a process is killed, lose the
// last 30 s.
//
// # Scopes
//
// full may everything; sending may send emails and events and read those; read
// may only read (Scope.Allows). The domains of a key restrict sending, which the
// sending module checks. A key makes no key that may send from other domains than
// itself, or that lives longer.
//
// # Caps
//
// Consume counts emails by day and month (UTC, by the database clock) for accounts
// whose plan has a cap, and grants as many as both caps leave. A scheduled email counts in the
// day and month in which it is due, from its acceptance on: Move and Refund follow it. The
// counters are locked until the caller's transaction ends, so a cap is exact over all
// processes. For accounts without a cap, and unmetered ones, accepting counts nothing.
//
// The emails of every account are counted by the hour, from the facts email.sent, after the
// hour has ended (hours.go). A change to a plan with caps makes the counters from these counts
// and from the emails that wait (recount.go), so no change of plan loses what was sent.
// Counters and counts older than 13 months are swept.
//
// # Production
//
// An account on a sandboxed plan writes only to itself until it is unlocked
// (Account.Unlocked): by the operator, or by a payment method on file together
// with a verified domain to send from.
//
// # Facts
//
// The module publishes and consumes none.
package accounts
