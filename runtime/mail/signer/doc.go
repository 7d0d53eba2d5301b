// Package signer selects the implementation of RSA signatures: Go, or the libcrypto of OpenSSL that most
// Linux machines have, which is about four times as fast. Signing takes most of the CPU time of a delivered
// message.
//
// Open looks for libcrypto once, at startup, and compares one of its signatures with Go's before using it.
// PKCS #1 v1.5 is deterministic (RFC 8017 section 8.2.1), so both must be the same bytes. A machine without
// libcrypto signs with Go; only the speed differs.
//
// Load returns a key in the form that the engine uses. Key material stays in this process. libcrypto's copy
// of a key is wiped and freed when the last reference to the key is gone.
//
// libcrypto is called without cgo, through purego. This makes the program dynamically linked to the C library.
// The build tag nolibcrypto excludes libcrypto: for musl, and for images that contain only the program.
package signer
