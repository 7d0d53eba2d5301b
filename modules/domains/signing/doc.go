// Package signing creates, stores, opens and rotates the DKIM keys of domains.
//
//	pending ──a signature of it verified with its published record──▶ active ──the next one became active──▶ retired
//
// A domain has one active RSA key from its creation. The key signs nothing before its record is found,
// because until then the domain cannot send. Mail is signed only with a key of its own domain; the
// installation has no key that replaces it. A second, Ed25519 key (RFC 8463) is optional.
//
// Turnover decides from the results of a check which pending keys become active. Activate activates them in
// the caller's transaction, so that exactly one key of an algorithm signs at any time. The record of a
// retired key stays listed for 7 days, because mail signed with the key may still be in transit. Then the key
// is deleted.
//
// A private key is sealed with the master key and bound to its domain. Callers own the rows of domains. To
// serialize changes, this package changes the keys of a domain only in a transaction that has locked the
// domain's row.
package signing
