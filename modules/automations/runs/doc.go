// Package runs stores the progress of runs and publishes their facts.
//
// A live run is two rows: automation_runs, which stays, and automation_works, which contains the next
// action and is deleted when the run ends. The row of work decides every race: every change to a run
// holds that row, a worker under the fencing number of its claim, an event by a lock.
//
// Settle stores an outcome of the machine in the caller's transaction: the steps that ended, their facts,
// and the next action. If a run begins to wait for an event, Settle looks back at the person's events
// with a second statement. Its snapshot is newer than the lock on the row of work, so an event either
// sees the wait or is seen by it.
//
// Locks are always taken in this order: caps, idempotency keys, persons (advisory), rows of work by id.
package runs
