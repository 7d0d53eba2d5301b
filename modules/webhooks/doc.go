// Package webhooks tells accounts' endpoints what has happened.
//
// # Words
//
// An endpoint (wh_…) is a URL of an account with the event types that it
// subscribes to. A delivery (whd_…) is one event on its way to one endpoint; there
// is one for each pair at most: its id follows from the two (idOf), and its place in lists and figures is the time
// of the event. An attempt is one POST of it.
//
// A delivery that waits has a row of work with the delivery's id: when it is due, and who holds
// it. That row is what a claim, a retry and a hand-back change. The row of the delivery is the
// log: it changes with the outcome of an attempt.
//
// # What is promised
//
//   - At least once: the delivery is a row before the bus has forgotten the fact, an
//     attempt is a row before its POST, and a delivery is settled only under the
//     fencing number of the attempt. What was cut off is tried again. The event id
//     is the same in every attempt.
//   - Five attempts: at once, and 5 s, 30 s, 2 min and 2 min after the one before it.
//     Then the delivery has failed; it is kept until 30 days after its event and can be replayed.
//   - Each attempt is signed anew over its own time and the octets that are sent. After
//     a rotation both secrets sign for 24 hours, by the database's clock.
//   - No order: a delivery that waits for its next attempt holds up nobody.
//   - One endpoint holds up no other: a process has a few POSTs to one endpoint under
//     way, and those that do not answer promptly share half of the room.
//   - An endpoint with a rate is told no faster by all processes together.
//   - Only public addresses are reached, judged when they are dialled (package post, which makes
//     the POST).
//
// # When an endpoint is switched off
//
// By its owner; when it answers 410; when its last 30 deliveries have all failed
// since it was last changed. Then no deliveries are made for it and those that wait
// go on waiting. Recover makes what it has missed of the facts of 30 days.
//
// An event that was erased, as a recipient asked for it, is not told any more: what
// is left of its delivery fails.
package webhooks
