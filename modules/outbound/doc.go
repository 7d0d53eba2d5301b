// Package outbound says by which way a message leaves.
//
// # Words
//
// A smarthost is a server that takes the mail of an account, or of one of its
// domains, instead of the recipients' own. Its use is "always", or "fallback": only
// after a direct attempt that the receiving side refused because of who connects, or
// that reached nobody.
//
// A source is an address that mail may leave from, of the machine of some process, in a pool:
// "dedicated" to one account, "pool" for the plan Pool, "shared" for everybody. Two
// sources of a pool with the same hostname and different families are one way: IPv4
// and IPv6 of one mail host.
//
// A source warms up when receivers have not seen mail from it before: its allowance
// per day follows a schedule of ours (warmup.go) until it is warm. Days are UTC days
// of the database clock.
//
// # Which way
//
//  1. The smarthost of the domain, else of the account, with use "always".
//  2. For a message that asks for the fallback: the fallback smarthost of the domain,
//     else of the account, else of the installation.
//  3. A source that is not paused and whose allowance is not used up: for the plan
//     Dedicated the account's own, then "pool", then "shared"; for the plan Pool
//     "pool", then "shared"; for all others "shared". Among several of a pool account
//     and destination decide, so that a receiver sees the same sender day by day.
//  4. The zero Way: what the settings of the installation say. This is also where mail
//     goes when the allowance of every source is used up, so an installation that warms
//     addresses up keeps one that is warm.
//
// Where POSTRIDER_OUTBOUND is a smarthost, sources and fallbacks are not asked: no
// attempt is direct. Where it is capture nothing is asked, so that no mail leaves.
//
// # Several processes
//
// A source belongs to the process that it names, or to every one whose machine has the
// address. Within a pool a process chooses sources of its own, else those of others that
// live, else those that nobody has had for less than Config.GoneAfter. Of an account's
// own pool it also chooses those that nobody has had for longer: their mail waits. Place
// says who takes what waits for a way: of one that nobody has, every process that has
// another one of the pool. Who has what is known from the beats of the nodes
// (runtime/work/node), as of the latest reading: a wrong answer costs seconds.
//
// # How exact an allowance is
//
// Choose takes from the allowance in memory, Count writes it down in the transaction
// in which deliveries begin and learns there what other processes have counted, and
// everything is read again when it was changed and every few seconds. So an allowance
// can be exceeded by what other processes have chosen since their last Count, and by
// what had been chosen and not yet counted when it was read again: about one claim of
// each process. One process alone keeps to what it has read, between two readings.
//
// # TLS reports
//
// Sessions with mail hosts are counted by day, domain, host, policy and result, as TLS
// reporting (RFC 8460) wants them, and kept for 60 days. They are not sent anywhere.
package outbound
