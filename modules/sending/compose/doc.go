// Package compose makes the octets of an accepted email: it loads the email, composes the
// message, puts in the link to unsubscribe and tracking, and signs it with DKIM.
//
// An email that its sender composed (it came over SMTP) keeps its fields and its body octet for
// octet, but for what the link and tracking have to change (relayed.go).
//
// A message is composed once for all recipients of a claim. A heavy one is composed in a file
// of the spool, under the budget of package intake, and the file is given back after the last
// use (heavy.go).
//
// Nothing here changes a row or talks to the network.
package compose
