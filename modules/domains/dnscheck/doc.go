// Package dnscheck lists the DNS records that a domain must publish, looks them up, and compares the answers.
//
// # Terms
//
// A Set contains everything that determines which records a domain must publish: its name, the value that
// proves its ownership, its keys, and the Hosts of the installation. Ownership, DKIM, return path and SPF are
// required; all other records are advice. An Observation is the result of one check for one record:
// verified (found as expected), mismatch (another value was found), missing, or unanswered. A check looks up
// all records concurrently.
//
// # Rules
//
// An inconclusive answer (SERVFAIL, REFUSED, timeout) is an unanswered observation. Merge then keeps the
// record's state. NXDOMAIN and empty answers are missing.
//
// A key that has a signer is probed: a sample message is signed with it and verified with the published
// record.
//
// SPF is evaluated like receivers do (RFC 7208), for a client that our include matches. A record is a
// mismatch if receivers reject it: because of an invalid term, too many lookups, or names without data. The
// advice says which.
//
// The records of our own names, the SPF include and the one at the end of the return path, are looked up too.
// If receivers cannot use them (none, permerror), the observation says that the operator must fix them.
//
// Data from foreign zones is truncated and sanitized before it is stored.
//
// This package neither reads nor writes tables. Package domains decides the status of a domain from its
// observations, and package signing decides which keys become active.
package dnscheck
