// Package certificate obtains certificates for tracking hosts from an ACME authority (RFC 8555), stores them
// in the database, and serves them.
//
// A host gets a certificate when it is verified, or at its first TLS handshake. Because a handshake can
// contain any name, the caller's Allowed decides which names may have one. Challenges are answered over HTTP
// by the main listener and over TLS-ALPN by this one, in any process. certmagic renews certificates in the
// background.
package certificate
