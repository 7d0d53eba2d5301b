// Package provider submits text messages to SMS providers, and parses their callbacks.
//
// There are three kinds: Twilio's REST API, which others implement as well; any other HTTP API (Gateway); and
// Capture, which keeps messages on this machine.
//
// # Outcomes
//
// Sent: the provider accepted the message. Failed: it refused the message permanently. Temporary: the provider
// was not reached, or responded with 429 or 5xx, and the same request may be repeated. Unknown: the request may
// have been written, but no response arrived. Providers have no idempotency keys, so a repeated request may
// send the message twice. It is repeated only if the owner of the gateway declares it safe (IsIdempotent).
//
// Each request uses its own connection. On a reused connection, a request can fail because the server has just
// closed it, and it would be unclear how much of the request was read.
//
// The package does not use the database.
package provider
