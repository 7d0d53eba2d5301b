// Package provider calls Stripe: it wraps the few reads and writes that billing needs, in its own terms.
//
// Each call is tried once and ends after five seconds. By then a waiting caller has waited long enough, and a
// worker repeats whatever must be done. Telemetry for Stripe is off, and no part of a response is logged.
package provider
