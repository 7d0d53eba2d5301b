// Package domains knows which names an account may send from, which DNS records
// prove it, and with which key its mail is signed.
//
// # Words
//
// A domain is a name that an account added. Its records are what the account has
// to publish: ownership, DKIM, return path and SPF are required, DMARC is advice.
// A record is verified (found as expected), mismatch (something else was found)
// or missing. A check asks DNS for all records at once, compares, and signs a
// sample message with our key to verify it with the published one.
//
// The identity of a sender is the domain, selector and key with which its mail is
// signed. It is looked up by exact name: a verified example.com does not speak
// for mail.example.com, whose SPF, DKIM and return path records are its own.
//
// The sandbox domain belongs to the installation (a row without account). Every
// account may send from it; to whom is the sending module's rule.
//
// # Ownership of a name
//
// Any number of accounts may have added a name; at most one has it verified (a
// partial unique index decides). Adding or verifying a name that another account
// has verified is refused with `domain_claimed` and with the TXT record that
// would prove control. Nothing is said about who the other account is.
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
// An answer that says nothing (SERVFAIL, REFUSED, time-out) never counts: the
// record keeps its state, the domain neither rises nor falls by it, and the
// check is tried again soon. NXDOMAIN and empty answers count as missing. A
// domain rises only by a check in which every required record answered.
//
// The 72 h run on the database clock, from the first check that saw the records
// broken. pending, temporary_failure and failed domains are checked after 1 min,
// then at growing distances up to 6 h; verified ones every 12 h. Seeded domains
// (sandbox, development) are verified by the installation and never checked.
//
// # Guarantees
//
// DNS is asked outside of any transaction. A check in the background that lost its
// lease, or that a check by hand overtook, changes nothing (fencing number).
// Identity may be up to IdentityTTL behind a change made by another process.
//
// # Facts
//
// Published, in the transaction of the change: domain.verified,
// domain.temporary_failure, domain.failed. Consumed: none.
package domains
