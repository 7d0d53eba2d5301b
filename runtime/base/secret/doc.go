// Package secret keeps secrets out of logs and encrypted at rest.
//
// A String holds a secret in memory: every way of printing it (fmt, slog, JSON, YAML) writes [redacted].
// Only Reveal returns the text.
//
// A Box encrypts what the database stores: AES-256-GCM, prefixed with the id of the key, with associated
// data that binds a ciphertext to its row, so that a ciphertext copied to another row cannot be decrypted.
// Several master keys can be configured: the first one encrypts, and all of them decrypt. To rotate the key, put a new
// key first, encrypt the values that Stale lists again, then remove the old key.
//
// A token is a secret that only its holder keeps: NewToken returns the text, to be shown once, and the
// hash, to be stored. Tokens carry 256 bits of randomness, so a plain SHA-256 is enough. Passwords chosen
// by people need more than that and do not belong here.
package secret
