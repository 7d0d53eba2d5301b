// Package outbound chooses the route by which a message leaves.
//
// # Terms
//
// A smarthost is a server that accepts the mail of an account, or of one of its domains, in place of the
// recipients' own servers. Its use is "always", or "fallback": only after a direct attempt that the receiver
// rejected because of the connecting host, or that reached no server.
//
// A source is an address that mail may leave from, on the machine of some process, in a pool: "dedicated" to
// one account, "pool" for the plan Pool, "shared" for all accounts. Two sources of a pool with the same
// hostname and different families are one way: IPv4 and IPv6 of one mail host.
//
// A source warms up when receivers have not seen mail from it before: its allowance per day follows a
// schedule (warmup.go) until it is warm. Days are UTC days of the database clock.
//
// # Choosing a way
//
// The first match applies:
//   - For mail of test mode: the server in this process that captures it (TestMail).
//   - The smarthost of the domain, else of the account, with use "always".
//   - For a message that requests the fallback: the fallback smarthost of the domain, else of the account,
//     else of the installation.
//   - A source that is not paused and has allowance left. For the plan Dedicated: the account's own, then
//     "pool", then "shared". For the plan Pool: "pool", then "shared". For all others: "shared". Within a
//     pool, the account and destination decide, so that a receiver sees the same sender every day.
//   - The zero Way: the settings of the installation. Mail also takes this way when the allowance of every
//     source is used up, so an installation that warms up addresses should keep a warm one.
//
// If POSTRIDER_OUTBOUND is a smarthost, sources and fallbacks are ignored, because no mail is delivered
// directly. If it is capture, the whole configuration is ignored, so that no mail leaves the machine.
//
// # Several processes
//
// A source belongs to the named process, or to every process whose machine has the address. Within a pool a
// process chooses its own sources first, then those of other running processes, then those that have been
// without a process for less than Config.GoneAfter. In an account's own pool it also chooses sources that
// have been without a process for longer: their mail waits. Place decides which process takes the mail queued
// for a way. Mail for a way that no process has may be taken by any process with another way in the pool.
// Ownership comes from the latest node heartbeats (runtime/work/node); stale data delays mail by a few
// seconds.
//
// # Accuracy of allowances
//
// Choose reserves from the allowance in memory. Count stores the use in the transaction in which deliveries
// begin, and reads the counts of other processes there. Everything is read again after a change and every few
// seconds. An allowance can therefore be exceeded by what other processes have chosen since their last Count,
// and by deliveries chosen but not yet counted at a read: about one claim per process. A single process stays
// within the allowance between two reads.
//
// # TLS reports
//
// Sessions with mail hosts are counted by day, domain, host, policy and result, as TLS reporting (RFC 8460)
// requires, and kept for 60 days. Postrider does not send the reports.
package outbound
