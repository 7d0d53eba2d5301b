// Package stripetest simulates Stripe for tests. It is an HTTP server on its own port.
//
// Each request is first checked by the validator of stripe-mock, which is derived from Stripe's own OpenAPI
// description: it rejects unknown, missing and ill-typed parameters. The response then comes from state:
// customers, cards, pages, subscriptions, schedules, meter windows and idempotency keys. Tests can inject
// faults. Changes create events, signed like Stripe signs them, which a test posts in any order, repeatedly
// or not at all.
package stripetest
