// Package steps takes the due steps of live runs, under a lease (runtime/base/worker).
//
// One claim takes a run up to the next effect, performs it and stores what follows. One transaction
// stores an email and settles its step: Hold is the guard of the message (sending.Guard). A run therefore
// sends one email per send step, even after a crash, and a run that was cancelled or is held by another
// claim sends nothing.
//
// The same applies to text messages. Their delivery is up to the module sms, and changes its record but
// not the run.
//
// The request of a webhook step is made outside a transaction. After a crash it may be repeated with the
// same Idempotency-Key.
package steps
