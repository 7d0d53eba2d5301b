// Package signin lets people in: sessions, passwords, codes, links.
//
// # Sessions
//
// The cookie of a session is 256 random bits; its row keeps the SHA-256. It ends after 7 days without
// use and after 30 days in all, and gets a new cookie at sign-in and at each confirmation. Person
// answers from a cache of three seconds, so a sign-out, a removed member or a disabled user takes
// effect everywhere within five. A session is a row that requests only read: one that runs while its
// user signs out cannot bring it back.
//
// # Links
//
// A link is 256 random bits in the fragment of a URL, so that neither logs nor Referer have it. It
// works once, for one purpose. Who asks for one gets the same answer whether they are known or not,
// after one row was written: a worker decides, makes the token and has the mail sent, in one
// transaction with the mail's own. So neither answers nor times tell who is known, and no mail is lost
// or doubled.
//
// # Trust
//
// A change of credentials ends the other sessions, the links and the changes that were begun before
// (package trust). Whoever changes a person, or uses a link of theirs, locks their row first, then links,
// then accounts.
//
// # Guessing
//
// Failures count by email and network, by network, and by email, in all processes together (package
// guessing). Over a limit no password is hashed. Unknown emails count and cost as known ones. A browser that
// is known (package devices) and a session have counts of their own, so strangers lock nobody out; a link,
// a passkey and an outside provider are not counted.
//
// # Getting in
//
// The first person comes in by a set-up link, which `serve` prints while nobody can sign in. There is
// no default password. Who is locked out gets a link by `postrider user link`.
package signin
