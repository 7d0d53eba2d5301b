// Package domains knows which names an account may send from, which DNS records
// prove it, and with which key its mail is signed: the life of a domain, from adding
// it to deleting it.
//
// # Rooms
//
//   - dnscheck: which records a domain publishes, and the judgement of what DNS says.
//   - signing: the DKIM keys, how they are sealed, and how one follows another.
//   - publish: putting the records where a DNS provider keeps the zone.
//
// This package decides by their answers what a domain becomes, and stores it.
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
// proves control. Nothing is said about who the other account is.
//
// A claim is such a proof: it is started, its record is published, and it is
// verified within 7 days. Then the domain moves in one transaction. The claimant
// gets a fresh row with new keys, pending until its own records are found (the id
// of an unverified row it had is kept). The former owner's row is failed, has a
// new ownership token, because what it published is still in DNS, and is checked
// again by hand only. A proof works once: every claim that ended, completed or
// expired, makes another value.
//
// # Deletion
//
// A deleted domain goes with its keys and its history. Its emails stay; those not
// delivered yet fail at their next attempt, as nothing can sign them any more.
//
// # History
//
// A check is kept when it found a change, and one of every day; for 90 days and
// at most 1,000 of a domain. The next kept check sweeps.
//
// # Receiving
//
// With inbound on, a domain that sends has an MX record to publish as well. It is
// checked and never required. Receiver tells whose mail an address's is.
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
// domain rises only by a check in which every required record answered. Where a
// record of the installation itself is missing or broken, the fault is the operator's:
// the domain's record says so, and the domain neither rises nor falls by it.
//
// The 72 h run on the database clock, from the first check that saw the records
// broken. pending, temporary_failure and failed domains are checked after 1 min,
// then at growing distances up to 6 h; verified ones every 12 h. Seeded domains
// (sandbox, development) are verified by the installation and never checked.
//
// # Keys
//
// RotateDKIM makes a pending key under a new selector; its record is listed but
// not required. The check that verifies it turns both keys over in one
// transaction, so at every instant exactly one signs, and publishes
// domain.dkim_rotated. While a key waits, rotating again is a conflict; its record
// is looked for at half its age, 1 min to 6 h. On a seeded domain, whose records
// nobody looks up, a new key signs at once.
//
// The record of the second, Ed25519 key is never required. Messages carry its
// signature below that of RSA while the last check saw the record.
//
// # Guarantees
//
// DNS is asked outside of any transaction. A check in the background that lost its
// lease, or that a check by hand overtook, changes nothing (fencing number).
// Identity may be up to 10 s behind a change made by another process.
//
// # Facts
//
// Published, in the transaction of the change: domain.added, domain.verified,
// domain.temporary_failure, domain.failed, domain.dkim_rotated, domain.updated,
// domain.deleted, domain.claim_started, domain.claimed, domain.lost. Consumed: none.
package domains
