// Package steps takes the steps of live runs that are due, under a lease (runtime/base/worker).
//
// One claim takes a run up to the next effect, performs it and stores what follows. An email
// is stored and its step is settled in one transaction: Hold is the guard of the message
// (sending.Guard). So a run sends one mail for each send step, whatever dies when, and a run
// whose row of work is gone (cancelled) or held by another claim sends nothing.
//
// A text message likewise (holdSMS); whether it has left is the matter of module sms, whose record
// changes and not the run.
//
// The request of a webhook step is made outside of a transaction. It may be made again after a
// crash, with the same Idempotency-Key.
package steps
