// Package accounts manages the accounts of an installation, their plans and their API keys.
//
// # Terms
//
// An account is a tenant: every row of a customer names its account. A user is a person who belongs to
// accounts; the user created with an account is its owner. A plan is a row of limits (requests per second,
// emails per day and month, domains), which an operator may change. An API key is a bearer credential of an
// account with a scope and, optionally, a list of the domains that it may send from.
//
// The account email is the only address that a sandboxed account may write to. It is stored in lower case and
// is unique in the installation.
//
// # Keys
//
// A secret is `svc_`, the number of the cell and an underscore unless it is cell 0 (package id), and a random
// token. It is shown once; the row keeps its SHA-256 and its start, which contains eight random characters. 256
// random bits need no slow hash. EnsureKey stores a secret that already exists. Development mode uses it, because
// its data directory keeps the secret between starts.
//
// Authenticate answers from a cache whose entries live at most CacheTTL (3 s). A revocation, expiry or
// suspension therefore takes effect on every process within 5 s, and immediately on the process that made it.
// Unknown keys are cached as well. A string that cannot be a key never reaches the database. Expiry follows
// the database clock, even for cached keys.
//
// Every key that does not work gets the same response, Unauthorized, whatever the reason. A database that is
// unavailable is reported as Unavailable and never as Unauthorized, so that no client discards a good key.
//
// Keys of a suspended account keep working for everything but sending, which is Forbidden with the code
// `account_suspended`. The customer can still read what happened, cancel scheduled emails and fix the
// problem.
//
// last_used_at is written at most every 30 s in one statement for all keys, and once more at stop. It may
// lag, and a killed process loses its last 30 s.
//
// # Scopes
//
// The scope full allows everything; sending allows sending emails and events and reading those; read allows
// only reading (Scope.Allows). The domains of a key restrict sending, which the sending module checks. A key
// cannot create a key with more domains or a later expiry than its own.
//
// # Caps
//
// Consume counts emails by day and month (UTC, by the database clock) for accounts whose plan has a cap, and
// grants as many as both caps leave. From its acceptance on, a scheduled email counts in the day and month in
// which it is due: Move and Refund follow it. The counters are locked until the caller's transaction ends, so
// a cap is exact across processes. For accounts without a cap, and unmetered ones, accepting an email counts
// nothing.
//
// The emails of every account are counted by the hour from email.sent facts, after the hour has ended
// (hours.go). A change to a plan with caps computes the counters from these counts and from pending emails
// (recount.go), so no change of plan loses emails that were sent. Counters and counts older than 13 months
// are deleted.
//
// # Production
//
// An account on a sandboxed plan can write only to its own address until it is unlocked (Account.IsUnlocked):
// by the operator, or by a payment method on file together with a verified domain to send from.
//
// # Facts
//
// The module neither publishes nor consumes facts.
package accounts
