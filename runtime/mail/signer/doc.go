// Package signer chooses who makes RSA signatures: Go, or the libcrypto of
// OpenSSL that most Linux machines carry, which is about four times as fast on the
// same core. Signing is most of the CPU that a delivered message costs.
//
// Open looks for libcrypto once, when the service starts. Before it is used, a
// signature of it is compared with Go's. PKCS #1 v1.5 is deterministic (RFC 8017
// section 8.2.1), so both are the same bytes. A machine without libcrypto signs
// with Go, and nothing but the speed differs.
//
// Load gives a key in the form in which the engine signs. Key material stays in
// this process. What libcrypto holds of a key is wiped and freed when the last
// reference to the key is gone.
//
// libcrypto is called without cgo, through purego. A program that is built so is
// linked to the C library at run time. The build tag nolibcrypto leaves libcrypto
// out: for musl, and for images that hold nothing but the program.
package signer
