// Package provider asks Stripe: the few questions and orders that billing has, in its own words.
//
// One try is made of each, and it ends after five seconds: who waits for an answer has waited long
// enough, and what must be done is done again by a worker. Nothing is measured for Stripe, and nothing
// of an answer is logged.
package provider
