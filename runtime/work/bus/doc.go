// Package bus delivers facts from the module that caused them to the modules that consume them, using
// Watermill on the same PostgreSQL database.
//
// # Terms
//
// A fact (runtime/work/event) is a row of `facts`, written in the transaction of the change it describes;
// it is kept as the timeline. A consumer group is a module that wants facts of certain types. A message is
// a row of `bus_messages`: a fact still to be handled by a group. Handling it deletes it.
//
// The mark is a row of `bus_marks`: the group has handled every fact with a smaller id. What it has handled
// after the mark is recorded in `bus_handled`, one row per commit. The catch-up scans the facts from the mark
// to the horizon (feed.go), creates messages for those that have neither a message nor a record, and moves the
// mark.
//
// # Guarantees
//
//   - Publish is part of the caller's transaction: if it is rolled back, nothing was published; if it
//     commits, nothing is lost. Without consumers it writes facts only.
//   - A group handles every fact that it is owed at least once. It is owed the facts of its Types, for the
//     accounts for which Wants is true, that happen after its first start: whichever process published
//     them, and whether its module was on or off.
//   - `bus_messages` may be emptied at any time. Its content is found again within 60 seconds, unless a
//     transaction is older than that: facts younger than the oldest open transaction are never shown.
//     `bus_marks`, `bus_handled` and `bus_poison` must be kept: deleting a row of `bus_poison` gives up
//     that fact.
//   - What a handler writes through its executor commits together with the deletion of the message and the
//     row of `bus_handled`, so in the database it happens exactly once. Handlers must be idempotent
//     nevertheless, in case a broker delivers the facts in the future.
//   - Replicas share the messages of a group. There is no order across replicas or failures; within a batch
//     it is the order of publication.
//   - The facts of a batch are handled in one savepoint, one after the other or in one call
//     (Consumer.HandleAll). If that fails, the writes are undone and they are handled individually, each in
//     its own savepoint, so a broken fact blocks no other. A fact that failed before is always handled
//     individually.
//   - If a handler fails or panics, its writes are undone (savepoint) and it is called again with
//     increasing pauses, while other messages proceed. After Options.PoisonAfter failures the message moves
//     to `bus_poison` with the error, a log line and a metric, and the mark passes it. Requeue brings it
//     back; the row is deleted when it is handled.
//   - Stop lets running handlers finish and stores what was handled. Nothing is lost.
//   - A group whose module was off continues from its mark, oldest first. New facts wait for at most 200
//     old ones (aheadMost), and 50 for every five seconds in which there are always more. A group that
//     never ran begins at the horizon of its first start.
//   - No fact is deleted by age before the groups in use have handled it. A group that is off for longer
//     than facts are kept misses the deleted ones; Sweep logs this.
//   - There is no state outside the tables and no dependency on transaction ids: a dump restored into
//     another cluster continues where it was. If the server clock is set back, facts from the repeated
//     period rely on their messages.
//
// # What a handler may do
//
// Turn the fact into rows, in milliseconds, through its executor, and return. It runs inside a transaction
// that other messages share: it must not use the network or wait. Slow work is a row with due_at
// (runtime/base/worker).
//
// # Implementation
//
// Watermill's own schemas have measured faults (see pin_test.go), so it uses our adapters: messages are
// selected with FOR UPDATE SKIP LOCKED at READ COMMITTED, and a commit deletes exactly those that were
// handled in it. An idle group waits for Wake from any process (LISTEN), or the next poll. Call Wake after
// the commit: NOTIFY inside a transaction would serialize all commits.
//
// # How the catch-up works
//
// A handled fact and a fact whose message was lost look alike: no message. So handling leaves a record, in
// the handler's commit and not in the publisher's: accepting mail pays nothing for it, nor does a fact that
// no group wants. A row per fact would cost as much as the message (4 µs and 400 bytes of WAL); one row for
// the facts of a commit costs 1 µs and 45 bytes of WAL for each of 50 facts, and 20 µs for a single one.
// Counting facts by the minute would cost no less and could not identify the missing fact.
//
// Every five seconds, one process for each group (the row of the mark is locked with SKIP LOCKED for one short
// transaction at a time) compares, in one statement, the next 5,000 facts before the horizon with the messages,
// `bus_handled` and `bus_poison`. Facts move between these in single commits, so the statement's snapshot sees
// a fact in one of them or in none. The mark moves to the first fact that is not handled yet, and the rows of
// `bus_handled` before it are deleted. An idle group costs one small statement: if there are no facts after the
// mark, it stays for 15 seconds. A scan costs 3 ms, and 2 µs for each new fact (make bench-bus). A crash at any
// point leaves the mark where it was or where it should be.
//
// Wants answers from memory that may be old. It is called again after Refresh, which is called after the
// horizon is determined: the answers are then valid for all facts before it. A fact that was published
// shortly before its account became wanted may be delivered too; a handler that cares must compare the
// times.
//
// While several versions run, the process that knows more types of a group scans (mayScan): the mark of another
// would pass types that it does not know.
package bus
