// Package openid lets people in whom an outside provider of OpenID Connect knows.
//
// # The way there and back
//
// Begin sends a browser to the provider: authorization code, PKCE (S256), state and nonce. What must
// come back stands in a cookie of that browser, under a MAC and for five minutes, and not in a row: a
// GET by a stranger writes nothing, and the answer counts in that browser only. The verifier and the
// nonce are made of the state and a key of this installation, so the browser never has them. Finish
// exchanges the code, checks the ID token, and lets its person in. The state is noted then, in the same
// transaction: an answer counts once, also at a provider that lets a code count twice.
//
// # Who comes in
//
// A person is found by issuer and subject. The first time they are found by an email that the provider
// has verified, but never an operator, and never a user whom the provider knows by another subject:
// those link the provider themselves, while they are signed in (BeginLink). Somebody new comes in by an
// open invitation to their email, or where a setting names a team that all people of the provider join.
// decide.go has all of it.
//
// # The provider being away
//
// The provider is asked for the first time when somebody wants to sign in by it, and again after a
// failure. Nothing else waits for it. Its issuer is the operator's word, so it may be on a private
// network; only link-local addresses, where clouds have their metadata, are refused.
package openid
