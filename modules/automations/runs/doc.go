// Package runs stores the progress of runs and publishes their facts.
//
// A live run has two rows: one in automation_runs, which stays, and one in automation_works, which contains the
// next action and is deleted when the run ends. The row of work decides every race: every change to a run holds
// that row. A worker holds it by the fencing number of its claim, an event by a lock.
//
// Settle stores an outcome of the machine in the caller's transaction: the steps that ended, their facts, and
// the next action. If a run begins to wait for an event, Settle searches the person's earlier events in a
// second statement. The snapshot of that statement is newer than the lock on the row of work, so either the
// event sees the wait or the wait sees the event.
//
// Locks are always acquired in this order: caps, idempotency keys, persons (advisory), rows of work by id.
package runs
