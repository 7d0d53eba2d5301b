// Package signing creates, stores and opens the DKIM keys of domains, and replaces keys with their successors.
//
//	pending ──a signature of it verified with its published record──▶ active ──the next one became active──▶ retired
//
// A domain has one active RSA key from its creation: nothing is signed before its record is found, because nothing
// is sent. Mail is only signed with a key of its own domain; the installation has no key that replaces it. A
// second, Ed25519 key (RFC 8463) is optional.
//
// Turnover decides from the results of a check which pending keys become active; Activate activates them in the
// transaction of the caller, so that exactly one key of an algorithm signs at any time. The record of a retired
// key stays listed for 7 days (mail signed with it may still be in transit), then the key is deleted.
//
// A private key is sealed with the master key and bound to its domain. Callers own the rows of domains: this
// package changes keys of a domain only in a transaction that has locked the domain's row, which serializes all
// changes of them.
package signing
