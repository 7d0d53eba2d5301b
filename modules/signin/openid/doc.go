// Package openid signs in users with an external OpenID Connect provider.
//
// # Flow
//
// Begin redirects the browser to the provider, with the authorization code flow, PKCE (S256), state and
// nonce. The pending sign-in is kept for five minutes in a cookie with a MAC, not in a row. So a GET by a
// stranger writes nothing, and the callback is valid in that browser only. The verifier and the nonce are
// derived from the state and a key of this installation, so the cookie contains neither. Finish exchanges the
// code, checks the ID token and signs in its user. It stores the state as used in the same transaction, so a
// callback works once, even if the provider accepts a code twice.
//
// # Admission
//
// Users are identified by issuer and subject. On their first sign-in they are identified by an email that the
// provider has verified. This excludes operators and users linked to another subject of the provider: they
// link the provider themselves while signed in (BeginLink). New users need an open invitation to their email,
// or a setting that names the team that all users of the provider join. See decide.go.
//
// # Provider failures
//
// The provider is contacted at the first sign-in, and again after a failure. Nothing else depends on it. The
// operator chooses the issuer, so it may be on a private network. Only link-local addresses are blocked,
// because clouds serve their metadata there.
package openid
