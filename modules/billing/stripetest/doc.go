// Package stripetest is a double of Stripe for tests: it stands at the edge of the process, on a port of
// its own.
//
// Each request is judged first by the validator of stripe-mock, made from Stripe's own description of its API:
// unknown, missing and ill-typed parameters are refused. Then it is answered from state: customers, cards,
// pages, subscriptions, schedules, meter windows, idempotency keys. Faults are given on demand, and what
// happens leaves events, signed as Stripe signs them, which a test posts in whatever order it likes, twice
// or never.
package stripetest
