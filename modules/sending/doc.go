// Package sending accepts messages and hands them to receiving servers.
//
// Words. An email is one accepted message; its id (`msg_…`) is issued in the
// transaction that stores it, so an id that a caller has seen survives any
// crash. A recipient is one envelope address of it, with a state of its own, and
// the unit of delivery work. An attempt is one try to hand the message to a
// server for one recipient. A receipt is what the caller gets. A submission is what
// one request brings: one message, or a batch of them, under one idempotency key.
//
// States. A recipient is queued until its first attempt, deferred while it waits
// for another, and settles once as delivered, bounced (the receiving side
// refused it for good, or retries ran out) or failed (no attempt could succeed,
// for another reason). The email is `sent` from acceptance until all its
// recipients have settled; then it is delivered if all are, else the worst of
// them (lifecycle.go). One with a time to send at is `scheduled` until then; it may
// be moved and cancelled. At its time a worker hands it over, or refuses it if it
// would be refused now (release.go). One with a suppressed recipient is stored as
// `failed` from the start, and nobody gets it.
//
// Waiting. A recipient that is due stands in the common queue. If the lane that it
// would leave by has no room (package runtime/mail/lane) it is parked under that lane's
// name and drawn from there; one that is held waits until somebody releases it. What
// has not been delivered when its message expires fails, and is not delivered late. A
// delivered recipient may bounce after all, when a report comes back (late.go).
//
// Invariants.
//   - A receipt is given only after the commit that holds email, recipients,
//     attachments, the answer under the idempotency key and the fact email.sent.
//   - Suppression and caps are asked in that same transaction; what the answer says
//     is what they said.
//   - An attempt row is committed before the attempt begins. An attempt that was
//     cut off keeps no outcome until the next claim, or somebody who hands back the
//     claims of a dead process (gone.go), marks it unknown: after its final dot it may
//     have been delivered, so a second copy is possible there and nowhere else. Both
//     copies carry the same Message-ID. One that is known not to have come to its dot
//     is marked as not started (begun.go).
//   - An outcome is stored only under the fencing number of its claim, so a
//     worker that was stopped past its lease changes nothing.
//   - Cancel, reschedule and release change a row on the condition that it is
//     scheduled: each email has one end, and a cancel that was confirmed is never
//     sent. The database clock alone says that a time has come.
//   - Mail of suspended accounts is neither released nor delivered.
//   - Nothing that talks to the network runs inside a transaction.
//
// Facts published: email.scheduled, email.cancelled, email.suppressed, email.sent,
// email.delivered, email.delivery_delayed, email.bounced, email.failed, and what
// other modules have Announce tell of an email. Facts consumed: none.
//
// Not promised: the order in which messages leave, and exactly-once delivery
// (SMTP cannot give it).
package sending
