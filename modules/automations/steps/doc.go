// Package steps takes the due steps of live runs, under a lease (runtime/base/worker).
//
// One claim takes a run up to the next effect, performs it and stores the result. One transaction stores an
// email and settles its step: Hold is the guard of the message (sending.Guard). A run therefore sends one email
// per send step, even after a crash, and a run that was cancelled or is held by another claim sends nothing.
//
// The same applies to text messages. The module sms delivers them; the result changes the message's record but
// not the run.
//
// The request of a webhook step is made outside a transaction. After a crash it may be repeated with the same
// Idempotency-Key.
package steps
