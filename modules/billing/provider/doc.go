// Package provider calls Stripe: it wraps the few reads and writes that billing needs, in its own terms.
//
// Each call is attempted once and times out after five seconds. Callers should not wait longer, and workers
// repeat calls that must succeed. Telemetry for Stripe is disabled, and responses are never logged.
package provider
