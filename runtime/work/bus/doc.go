// Package bus carries facts from the module that caused them to the modules
// that care, on Watermill over the same Postgres.
//
// # Words
//
// A fact (runtime/work/event) is a row of `facts`, written in the transaction of the
// change it tells of; it is the timeline and stays. A consumer group is a
// module that wants facts of certain types. A message is a row of `bus_messages`:
// this fact, still to be handled by this group. Handling it deletes it.
//
// The mark is a row of `bus_marks`: the group has handled every fact whose id is less.
// What it has handled behind the mark stands in `bus_handled`, one row for each
// commit. The catch-up looks at the facts from the mark to the horizon (feed.go), gives
// those a message that nothing stands for, and moves the mark.
//
// # What is promised
//
//   - Publish is part of the caller's transaction: rolled back, nothing was
//     published; committed, nothing is lost. Without consumers it writes facts only.
//   - A group handles every fact that it is owed at least once. It is owed the facts of
//     its Types, of the accounts for which Wants is true, that happen after its first
//     start: whichever process published them, and whether its module was on or off.
//   - `bus_messages` may be emptied at any time. What was in it is found within 60
//     seconds, if no transaction is older than that: nobody can be shown facts that are
//     younger than the oldest open transaction. `bus_marks`, `bus_handled` and
//     `bus_poison` are kept: who deletes a row of `bus_poison` gives that fact up.
//   - What a handler writes through its executor commits together with the deletion of
//     the message and the row of `bus_handled`, so in the database it happens exactly
//     once; handlers are idempotent nevertheless, for the day a broker carries the facts.
//   - Replicas share the messages of a group. There is no order across replicas
//     or failures; within a batch it is the order of publication.
//   - The facts of a batch are handled in one savepoint, one after the other or at once
//     (Consumer.HandleAll). When that fails, what was written is undone and they are handled
//     one at a time, each in its own, so a broken fact stops no other. One that failed before
//     is always handled by itself.
//   - A handler that fails or panics has its writes undone (savepoint) and is called
//     again with growing back-off, while other messages go on. After
//     Options.PoisonAfter failures the message moves to `bus_poison` with the error,
//     a log line and a metric, and the mark passes it. Requeue brings it back; the row
//     goes when it is handled.
//   - Stop finishes the handler that runs and stores what was handled. Nothing is lost.
//   - A group whose module was off goes on from its mark, oldest first. Fresh facts wait
//     for no more than 200 old ones (aheadMost), and 50 for each five seconds in which
//     there are always more. A group that never ran begins at the
//     horizon of its first start.
//   - Age deletes no fact that a group in use has not handled. A group that is off for
//     longer than facts are kept misses those that are gone; Sweep logs it.
//   - No state outside the tables and nothing that depends on transaction ids: a
//     dump restored into another cluster goes on where it was. A clock of the server
//     that is set back leaves the facts of the time that comes twice to their messages.
//
// # What a handler may do
//
// Turn the fact into rows, in milliseconds, through its executor, and return. It
// runs inside a transaction that other messages share: never the network, never
// a wait. Slow work is a row with due_at (runtime/base/worker).
//
// # How
//
// Watermill's own schemas have measured faults (see pin_test.go), so it runs on
// our adapters: messages are chosen by FOR UPDATE SKIP LOCKED at READ COMMITTED,
// and a commit deletes exactly those that were handled in it. An idle group waits
// for Wake from any process (LISTEN), else for the poll. Wake is called after
// the commit: NOTIFY inside a transaction makes all commits wait for each other.
//
// # How the catch-up knows
//
// A fact that was handled and one whose message was lost look alike: no message. So
// handling leaves a record, and it does so in the handler's commit, not in the
// publisher's: accepting mail pays nothing for it, nor does a fact that no group wants.
// A row for each fact would cost as much as the message (4 µs and 400 bytes of the log);
// one row for the facts of a commit costs 1 µs and 45 bytes of the log for each of 50
// facts, and 20 µs for one that comes alone. Counting facts by the minute would cost no
// less and could not tell which fact is missing.
//
// Every five seconds one process for each group (the row of the mark is locked with SKIP
// LOCKED for one short transaction at a time) compares, in one statement, the next 5,000
// facts before the horizon with the messages, with `bus_handled` and with `bus_poison`.
// Those are moved into each other by single commits, so the statement's snapshot sees a
// fact in one of them or in none. The mark goes up to the first fact that is not handled
// yet, and the rows of `bus_handled` before it are deleted. A group at rest costs one small statement: where no
// fact is behind the mark, it stays where it is for 15 seconds. A look costs 3 ms, and 2 µs
// for each fact that is new (make bench-bus). A kill at any point leaves the mark
// where it was or where it should be.
//
// Wants answers from memory that may be old. It is asked again after Refresh, which
// is called when the horizon is known: what Wants answers then holds for all facts before.
// A fact that was published shortly before its account came to be wanted may be handed
// out too; a handler to which that matters compares the times.
//
// While versions run side by side, the one looks that knows more types of a group
// (mayLook): the mark of another would pass what it does not know.
package bus
