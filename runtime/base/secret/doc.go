// Package secret keeps secrets out of logs and encrypted at rest.
//
// A String holds a secret in memory: every way of printing it (fmt, slog, JSON,
// YAML) gives [redacted], only Reveal gives the text.
//
// A Box encrypts what the database stores: AES-256-GCM, with the id of the key
// in front and associated data that binds a ciphertext to its row, so that a
// ciphertext moved to another row does not open. Several master keys may be
// configured: the first seals, all open. To rotate, put a new key in front, seal
// again what Stale names, then drop the old key.
//
// A token is a secret that only its holder keeps: NewToken gives the text, to be
// shown once, and the hash, to be stored. Tokens carry 256 bits of randomness,
// so a plain SHA-256 is enough; passwords chosen by people need more than that
// and have no place here.
package secret
