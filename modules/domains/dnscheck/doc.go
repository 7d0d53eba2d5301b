// Package dnscheck says which DNS records a domain has to publish, looks them up, and
// judges what it finds.
//
// # Words
//
// A Set is everything that decides which records one domain publishes: its name, the value
// that proves its ownership, its keys, and the Hosts of the installation. Ownership, DKIM,
// return path and SPF are required; DMARC and the MX record are advice. An Observation is
// what one check saw of one record: verified (found as expected), mismatch (something else
// was found), missing, or no answer. A check asks DNS for all records at once.
//
// # Rules
//
// An answer that says nothing (SERVFAIL, REFUSED, time-out) is an unanswered observation.
// Merge keeps the state that the record had. NXDOMAIN and empty answers are missing.
//
// A key that a signer is given for is probed: a sample message is signed with it and
// verified with the published record.
//
// SPF is evaluated as receivers do it (RFC 7208) for a client that our include matches. A
// record is a mismatch when receivers refuse it: for a term that is not valid anywhere in
// it, for too many look-ups, for names that hold nothing. The advice says which.
//
// The records of our own names, the SPF include and the one at the end of the return path,
// are looked up too. Where receivers could not use them (none, permerror), the fault is the
// operator's, and the observation says so.
//
// What a stranger's zone holds is bounded and cleaned before it is stored.
//
// This package reads no table and writes none. What a domain becomes by its observations is
// decided by package domains, which keys turn over by package signing.
package dnscheck
