// Package domains manages sending domains: their ownership, DNS records and DKIM keys.
//
// # Packages
//
//   - dnscheck: the records that a domain publishes, and their comparison with DNS.
//   - signing: the DKIM keys, how they are sealed, and how they are rotated.
//   - publish: publishing the records at the DNS provider of the zone.
//
// This package decides the status of a domain from their results, and stores it.
//
// # Terms
//
// A domain is a name that an account added. Its records are those that the account must publish: ownership,
// DKIM, return path and SPF are required, DMARC is advice. A record is verified (found as expected), mismatch
// (another value was found) or missing. A check looks up all records concurrently and compares them. It also
// signs a sample message with our key and verifies it with the published key.
//
// The identity of a sender is the domain, selector and key that sign its mail. It is looked up by exact name:
// a verified example.com does not authorize mail.example.com, whose SPF, DKIM and return path records are its
// own.
//
// The sandbox domain belongs to the installation (a row without account). Every account may send from it; the
// sending module decides which recipients it allows.
//
// # Ownership of a name
//
// Any number of accounts may have added a name; at most one has it verified (a partial unique index decides).
// Adding or verifying a name that another account has verified fails with `domain_claimed` and the TXT record
// that proves control. The response does not reveal the other account.
//
// A claim is the process of this proof: the account starts it, publishes its record, and verifies it within 7
// days. Then the domain moves in one transaction. The claimant gets a new row with new keys, pending until
// its own records are found (the id of an existing unverified row is kept). The former owner's row is failed,
// has a new ownership token, because the published one is still in DNS, and is only checked on request. A
// proof works once: every claim that ends, completed or expired, leads to a new value.
//
// # Deletion
//
// A domain is deleted with its keys and its history. Its emails remain; undelivered ones fail at their next
// attempt, because they can no longer be signed.
//
// # History
//
// Checks that found a change and one check per day are kept, for 90 days and at most 1,000 per domain. The
// next kept check deletes older ones.
//
// # Receiving
//
// If inbound is enabled, a verified domain also has an MX record to publish. It is checked but never
// required. Receiver returns the account that receives mail for an address.
//
// # States
//
//	pending ──all required verified──▶ verified ◀──all required verified──┐
//	                                      │ a required record is broken   │
//	                                      ▼                               │
//	                            temporary_failure (still sends) ──────────┤
//	                                      │ still broken after 72 h       │
//	                                      ▼                               │
//	                                   failed (does not send) ────────────┘
//
// An inconclusive answer (SERVFAIL, REFUSED, timeout) never counts: the record and the domain keep their
// states, and the check is repeated soon. NXDOMAIN and empty answers count as missing. A domain only becomes
// verified by a check in which every required record answered. If a record of the installation itself is
// missing or broken, the operator must fix it: the domain's record says so, and the domain keeps its state.
//
// The 72 h run on the database clock, from the first check that found the records broken. pending,
// temporary_failure and failed domains are checked after 1 min, then at growing intervals up to 6 h; verified
// ones every 12 h. Seeded domains (sandbox, development) are verified by the installation and never checked.
//
// # Keys
//
// RotateDKIM creates a pending key under a new selector; its record is listed but not required. The check
// that verifies it activates the key and retires the previous one in one transaction, so that exactly one
// signs at any time, and publishes domain.dkim_rotated. While a key is pending, another rotation is a
// conflict; its record is looked up after half its age, 1 min to 6 h. On a seeded domain, whose records are
// never looked up, a new key signs immediately.
//
// The record of the second, Ed25519 key is never required. Messages carry its signature below that of RSA
// while the last check found the record.
//
// # Guarantees
//
// DNS is never queried within a transaction. A background check that lost its lease, or that a requested
// check overtook, changes nothing (fencing number). Identity may lag up to 10 s after a change made by
// another process.
//
// # Facts
//
// Published, in the transaction of the change: domain.added, domain.verified, domain.temporary_failure,
// domain.failed, domain.dkim_rotated, domain.updated, domain.deleted, domain.claim_started, domain.claimed,
// domain.lost. Consumed: none.
package domains
