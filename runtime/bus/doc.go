// Package bus carries facts from the module that caused them to the modules
// that care, on Watermill over the same Postgres.
//
// # Words
//
// A fact (runtime/event) is a row of `facts`, written in the transaction of the
// change it tells of; it is the timeline and stays. A consumer group is a
// module that wants facts of certain types. A message is a row of `bus_messages`:
// this fact, still to be handled by this group. Handling it deletes it.
//
// # What is promised
//
//   - Publish is part of the caller's transaction: rolled back, nothing was
//     published; committed, nothing is lost. Without consumers it writes facts only.
//   - Every group that was registered where the fact was published handles it at
//     least once. What a handler writes through its executor commits together with
//     the deletion of the message, so in the database it happens exactly once;
//     handlers are idempotent nevertheless, for the day a broker carries the facts.
//   - Replicas share the messages of a group. There is no order across replicas
//     or failures; within a batch it is the order of publication.
//   - A handler that fails or panics has its writes undone (savepoint) and is called
//     again with growing back-off, while other messages go on. After
//     Options.PoisonAfter failures the message moves to `bus_poison` with the error,
//     a log line and a metric; Requeue brings it back.
//   - Stop finishes the handler that runs and stores what was handled. Nothing is lost.
//   - A group that a module switches on later gets the facts from then on. Messages
//     of a group that is switched off wait for it until the Sweep.
//   - No state outside the tables and nothing that depends on transaction ids: a
//     dump restored into another cluster goes on where it was.
//
// # What a handler may do
//
// Turn the fact into rows, in milliseconds, through its executor, and return. It
// runs inside a transaction that other messages share: never the network, never
// a wait. Slow work is a row with due_at (runtime/worker).
//
// # How
//
// Watermill's own schemas have measured faults (see pin_test.go), so it runs on
// our adapters: messages are chosen by FOR UPDATE SKIP LOCKED at READ COMMITTED,
// and a commit deletes exactly those that were handled in it. An idle group waits
// for Wake from any process (LISTEN), else for the poll. Wake is called after
// the commit: NOTIFY inside a transaction makes all commits wait for each other.
package bus
