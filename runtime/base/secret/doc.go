// Package secret keeps secrets out of logs and encrypted at rest.
//
// A String holds a secret in memory: every way of printing it (fmt, slog, JSON, YAML) writes [redacted].
// Only Reveal returns the text.
//
// A Box encrypts what the database stores: AES-256-GCM, prefixed with the id of the key, with associated
// data that binds a ciphertext to its row, so that a ciphertext copied to another row does not open.
// Several master keys may be configured: the first seals, all open. To rotate, put a new key first, seal
// again what Stale lists, then remove the old key.
//
// A token is a secret that only its holder keeps: NewToken returns the text, to be shown once, and the
// hash, to be stored. Tokens carry 256 bits of randomness, so a plain SHA-256 is enough. Passwords chosen
// by people need more than that and have no place here.
package secret
