// Package sending accepts messages, for immediate delivery or for a later time.
//
// Packages. The module consists of packages that share the tables emails, recipients, attempts and
// attachments, and that are enabled and disabled together. They do not import each other, except records,
// which all may use for reading, and bodies below it. They communicate through rows.
//
//	sending           accepts, reschedules, cancels
//	sending/release   releases scheduled mail at its time, or refuses it then
//	sending/delivery  claims due recipients, delivers, settles
//	sending/queue     changes the queue for the operator and for accounts
//	sending/records   reads, lists, counts, purges, erases; late bounces
//	sending/bodies    bodies of finished emails in the object store
//
//	sending/lifecycle    the states that they share
//	sending/policy       who may send what to whom, checked at acceptance and at release
//	sending/compose      composes the bytes of a message, for delivery
//	sending/unsubscribe  the unsubscribe link in a message
//
// Terms. An email is one accepted message; its id (`msg_…`) is issued in the transaction that stores it, so
// an id that a caller has seen survives any crash. A recipient is one envelope address of it, with a state of
// its own, and the unit of delivery work. A receipt is what Send returns to the caller. A submission is the
// content of one request: one message, or a batch of them, under one idempotency key. To release is to hand a
// scheduled email over to delivery at its time. The other packages define their own terms.
//
// States. A recipient is queued until its first attempt, deferred while it waits for another, and settles
// once as delivered, bounced (the receiving side refused the recipient permanently, or retries ran out) or
// failed (no attempt could succeed, for another reason). The email is `sent` from acceptance until all its
// recipients have settled. Then it is delivered if all of them are, otherwise it has the worst of their
// states (lifecycle). An email with a time to send at is `scheduled` until then, and can be rescheduled and
// cancelled. At its time, a worker releases it, or refuses it if it would be refused now (package release).
// An email with a suppressed recipient is stored as `failed` from the start, and is sent to no recipient.
//
// Invariants.
//   - A receipt is returned only after the commit that stores the email, recipients,
//     attachments, the response under the idempotency key and the fact email.sent.
//   - Suppression and caps are checked in that same transaction, and the response reports
//     their results.
//   - Cancel, reschedule and release change a row only if it is scheduled. Each email
//     therefore ends once, and an email whose cancellation was confirmed is never sent.
//     Only the database clock decides that a time has come.
//
// Facts published by these packages: email.scheduled, email.rescheduled, email.cancelled, email.suppressed,
// email.sent, email.delivered, email.delivery_delayed, email.bounced, email.failed, and those that other
// modules publish through records.Announce. Facts consumed: none.
package sending
