// Package signing holds the DKIM keys with which the mail of domains is signed: it makes
// and seals them, opens them, lists them, and turns one over to the next.
//
//	pending ──a signature of it verified with its published record──▶ active ──the next one became active──▶ retired
//
// A domain has one RSA key that signs, from the start on: nothing is signed before its
// record was seen, because nothing is sent. Mail is signed with a key of its own domain or
// not at all; there is no key of the installation that steps in. A second, Ed25519 key
// (RFC 8463) is an option.
//
// Turnover decides from what a check saw which waiting keys sign from now on; Activate
// turns them over in the transaction of the caller, so that at every instant exactly one key
// of an algorithm signs. The record of a retired key stays listed for 7 days (mail signed with
// it may still be under way), then the key is deleted.
//
// A private key is sealed with the master key and bound to its domain. Which rows exist is a
// matter of the caller: this package changes keys of a domain only in a transaction that has
// locked the domain's row, which is what serialises every change of them.
package signing
