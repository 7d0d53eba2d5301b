// Package runs stores how far runs have come, and tells of it.
//
// A live run is two rows: automation_runs, which stays, and automation_works, which says what
// is next and goes when the run ends. The row of work decides every race. Whoever changes a
// run holds that row: a worker under the fencing number of its claim, an event by a lock.
//
// Settle stores an outcome of the machine: the steps that ended, the facts of them, and what is
// next, in the transaction that it is given. Where a run begins to wait for an event, Settle
// looks back among the events of the person with a second statement. Its snapshot is newer
// than the lock on the row of work, so an event either sees the wait or is seen by it.
//
// Locks are taken in this order everywhere: caps, idempotency keys, persons (advisory), rows
// of work by id.
package runs
