// Package sending accepts messages: for delivery at once, or for a time to come.
//
// Rooms. The module has rooms, which share the tables emails, recipients, attempts and
// attachments, and which are switched on and off as one. No room imports another, but for
// records, which all may read through, and bodies below it; they meet in the rows.
//
//	sending           accepts, reschedules, cancels
//	sending/release   hands scheduled mail over at its time, or refuses it then
//	sending/delivery  claims recipients that are due, delivers, settles
//	sending/queue     the hand of operator and account in what waits
//	sending/records   reads, lists, counts, purges, erases; late bounces
//	sending/bodies    bodies of finished emails in the object store
//
//	sending/lifecycle    the states that they share
//	sending/policy       who may send what to whom, asked at acceptance and at release
//	sending/compose      the octets of a message on its way out, for delivery
//	sending/unsubscribe  the link to unsubscribe with, in a message
//
// Words. An email is one accepted message; its id (`msg_…`) is issued in the transaction
// that stores it, so an id that a caller has seen survives any crash. A recipient is one
// envelope address of it, with a state of its own, and the unit of delivery work. A receipt
// is what the caller gets. A submission is what one request brings: one message, or a batch
// of them, under one idempotency key. To release is to hand a scheduled email over to
// delivery at its time; the other rooms say their words.
//
// States. A recipient is queued until its first attempt, deferred while it waits
// for another, and settles once as delivered, bounced (the receiving side
// refused it for good, or retries ran out) or failed (no attempt could succeed,
// for another reason). The email is `sent` from acceptance until all its
// recipients have settled; then it is delivered if all are, else the worst of
// them (lifecycle). One with a time to send at is `scheduled` until then; it may
// be moved and cancelled. At its time a worker releases it, or refuses it if it
// would be refused now (package release). One with a suppressed recipient is stored as
// `failed` from the start, and nobody gets it.
//
// Invariants.
//   - A receipt is given only after the commit that holds email, recipients,
//     attachments, the answer under the idempotency key and the fact email.sent.
//   - Suppression and caps are asked in that same transaction; what the answer says
//     is what they said.
//   - Cancel, reschedule and release change a row on the condition that it is
//     scheduled: each email has one end, and a cancel that was confirmed is never
//     sent. The database clock alone says that a time has come.
//
// Facts published by the rooms: email.scheduled, email.rescheduled, email.cancelled, email.suppressed,
// email.sent, email.delivered, email.delivery_delayed, email.bounced, email.failed, and what
// other modules have records.Announce tell of an email. Facts consumed: none.
package sending
