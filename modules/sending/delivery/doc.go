// Package delivery hands accepted mail to receiving servers. It claims due recipients, has their messages
// composed and signed (package compose), makes one attempt for each, and settles the outcomes.
//
// Terms. To claim is to take a recipient for one attempt, under a lease and a fencing number (the fence). To
// undo a claim is to return the recipient as if it had not been claimed. To park is to put a recipient aside
// under the name of a lane that has no room. An outcome is the result of one attempt; the verdict is its
// consequence for the recipient; to settle is to store both. A recipient whose state is final is settled too.
// A claim is ahead if no connection was free when it was made; its attempt has begun when it reaches its
// final dot.
//
// Handing over. A recipient that this process accepts is stored as claimed if it would be claimed immediately
// anyway (handover.go). Its delivery then needs no query before the attempt.
//
// Waiting. A due recipient is in the common queue. If its lane has no room (package runtime/mail/lane), or
// other recipients already wait for it, the recipient is parked and drawn as soon as the lane has room, first
// in, first out. A recipient whose way out only another process has is parked for that process, which is
// woken and is the only one to draw it. Claims skip recipients that are held (package queue). If a message
// expires, its undelivered recipients fail instead of being delivered late.
//
// Invariants.
//   - An attempt row is committed before the attempt begins. An attempt that was cut off
//     keeps no outcome until the next claim, or the process that releases the claims of a
//     dead node (node_claims.go), marks it unknown: after its final dot it may have been
//     delivered, so a second copy is possible there and nowhere else. Both copies carry the
//     same Message-ID. An attempt known not to have reached its final dot is marked as not
//     started (begun_attempts.go).
//   - An outcome is stored only under the fence of its claim, so a worker that was paused
//     past its lease changes nothing.
//   - Mail of suspended accounts is not delivered.
//   - No network operation runs inside a transaction.
//
// Not promised: the order in which messages to different destinations leave or arrive, and exactly-once
// delivery, which SMTP cannot provide.
package delivery
