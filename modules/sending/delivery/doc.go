// Package delivery hands accepted mail to receiving servers: it claims recipients that are
// due, has their message composed and signed (package compose), makes one attempt each, and
// settles what came of it.
//
// Words. To claim is to take a recipient for one attempt, under a lease and a fencing number
// (the fence). To undo a claim is to give it back as if nobody had taken it. To park is to
// put a recipient aside under the name of a lane that has no room. An outcome is what one
// attempt brought; the verdict is what that means for the recipient; to settle is to store
// both. A recipient whose state is final is settled too. A claim is ahead when it was made
// before there was a connection for it; its attempt has begun when it comes to its final
// dot.
//
// Waiting. A recipient that is due stands in the common queue. If the lane that it would
// leave by has no room (package runtime/mail/lane), or others wait for it already, it is
// parked, and drawn from there as soon as the lane has room, first in, first out. A
// recipient whose way only another process has is parked for that one, which is woken and
// draws it; nobody else does. No claim sees one that is held (package queue). What has not
// been delivered when its message expires fails, and is not delivered late.
//
// Invariants.
//   - An attempt row is committed before the attempt begins. An attempt that was cut off
//     keeps no outcome until the next claim, or somebody who hands back the claims of a dead
//     process (gone.go), marks it unknown: after its final dot it may have been delivered, so
//     a second copy is possible there and nowhere else. Both copies carry the same
//     Message-ID. One that is known not to have come to its dot is marked as not started
//     (begun.go).
//   - An outcome is stored only under the fence of its claim, so a worker that was stopped
//     past its lease changes nothing.
//   - Mail of suspended accounts is not delivered.
//   - Nothing that talks to the network runs inside a transaction.
//
// Not promised: the order in which messages to different destinations leave, or arrive, and exactly-once delivery (SMTP cannot
// give it).
package delivery
