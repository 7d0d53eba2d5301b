// Package certificate gets certificates for tracking hosts from an ACME authority
// (RFC 8555), keeps them in the database, and serves them.
//
// A host gets one when it is verified, or at its first TLS handshake; nobody else's
// name does, because a handshake may name anything: the decision is the caller's
// Allowed. Challenges are answered over HTTP by the main listener and over TLS-ALPN
// by this one, in whichever process is asked. certmagic renews in the background.
package certificate
