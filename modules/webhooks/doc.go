// Package webhooks delivers events to the webhook endpoints of accounts.
//
// # Terms
//
// An endpoint (wh_…) is a URL that belongs to an account, with the event types it subscribes to. A delivery
// (whd_…) is one event on its way to one endpoint. There is at most one delivery per event and endpoint,
// because the id is derived from both (idOf). Lists and statistics order deliveries by the time of the event.
// An attempt is one POST of a delivery.
//
// A pending delivery has a work row with the same id, which stores when it is due and who claimed it. Claims,
// retries and releases change only the work row. The delivery row is the log, and changes with the outcome
// of an attempt.
//
// First attempts are cheaper, because most deliveries need no second one. The transaction that creates deliveries
// claims those that its process can begin immediately (handover.go). The first attempts that are claimed together
// share one row of webhook_claims (first_claim.go) and have no work rows. The row of such an attempt is written once,
// with its outcome. If the process dies, the row of the claim shows which attempts were interrupted.
//
// # Guarantees
//
//   - At least once: the delivery is stored before the bus marks the fact as handled, an
//     attempt or its claim is stored before its POST, and a delivery is settled only under the
//     fencing number of the attempt or while the claim exists. Interrupted attempts are repeated.
//     The event id is the same in every attempt.
//   - Five attempts: immediately, and 5 s, 30 s, 2 min and 2 min after the previous one. Then
//     the delivery has failed. It is kept until 30 days after its event and can be replayed.
//   - Each attempt is signed over its own time and the exact bytes sent. After a rotation,
//     both secrets sign for 24 hours by the database clock.
//   - No order: a delivery that waits for a retry does not delay others.
//   - Endpoints do not delay each other: a process has only a few concurrent POSTs per
//     endpoint, and all slow endpoints together share half of its capacity.
//   - The rate limit of an endpoint applies across all processes.
//   - Only public addresses are reached. Package post, which makes the POST, checks them when
//     it dials.
//
// # Disabled endpoints
//
// An endpoint is disabled by its owner, when it responds with 410, or when all of its last 30 deliveries have
// failed since it was last changed. No deliveries are then created for it, and pending ones keep waiting.
// Recover creates the missed deliveries of the last 30 days.
//
// If a recipient has an event erased, pending deliveries of it fail.
package webhooks
