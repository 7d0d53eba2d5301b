// Package worker runs the work that no request waits for. There are two kinds.
//
// A Worker takes jobs that wait in rows, several at once, each under a lease: SMTP
// attempts, webhook attempts, domain re-checks. Most of this text is about it.
//
// Tasks repeat work that is in no row, each task in one goroutine: a sweep of old rows, a
// cache that is read again, a wake that is passed on. A task waits between two steps for
// as long as the step said. It survives a panic. When it begins to fail it logs once, and
// once when it works again. No step begins after the stop (Tasks, Task, Every, OnWake).
//
// # Words
//
// A job is a row with `due_at`. To claim it is to push due_at to the end of a
// lease and to raise its fencing number, in one short transaction; a crash then
// heals itself, because the row is due again when the lease is over. To settle
// it is to store what came of it, only under the fencing number it was claimed
// with. Three steps, of which only the middle one talks to the network:
//
//	Claim  (transaction)  UPDATE … FROM (SELECT … WHERE due_at <= now() ORDER BY due_at
//	                      LIMIT n FOR UPDATE SKIP LOCKED) … SET due_at = now() + lease,
//	                      fence = fence + 1 … RETURNING …
//	Run    (network)      under a context that is cancelled at the end of the lease
//	Settle (transaction)  UPDATE … FROM unnest(…) WHERE id = … AND fence = …
//
// # What the SQL has to keep
//
//   - The clock is the database's: due_at, leases and expiry are now() in SQL.
//   - Claim, Settle and Extend are multi-row statements. A statement per job
//     would be the ceiling of the whole service.
//   - Settle raises the fencing number too. Its answer can be lost on the way,
//     then it is called again with the same results and must find nothing to do.
//   - Settle of a job whose fencing number has moved on does nothing for it and
//     is not an error: somebody else has the job.
//
// # What the worker keeps
//
//   - Results that wait are settled together (group commit, no timer).
//   - While results cannot be stored no new Run begins and nothing is claimed:
//     when a Settle fails because the database is away, and also while one has
//     been waiting for its answer for longer than Config.Stall. Likewise no Run
//     begins while claims fail so. A failed Settle is tried again
//     until it is stored, even after the lease: the fencing number decides
//     whether it still counts, and dropping it would mean doing the job twice.
//     A result that the database refuses for itself is tried five times and then
//     abandoned with an error in the log; it does not hold up the others.
//   - A job that waited in this process for longer than half its lease is not
//     started but handed back (Release). The lease is counted from before the
//     claim was sent, so it never outlives the one in the database.
//   - Lease.Valid, asked right before the irreversible step, is false a margin
//     before the end. It looks at the monotonic clock and at the wall clock:
//     the first stands still while a machine is suspended.
//   - With Extend, the leases of running jobs are prolonged in batches after a
//     third of their time. Extend and Settle never overlap, so an Extend cannot
//     touch a job that has just been settled. Without it a Run is cut at the end
//     of its lease.
//   - An outage is one log line when it begins and one when it ends.
//   - Of several processes that find the database back, those that have results store
//     them before others can claim the jobs again, although their leases have ended: the
//     first operation of a process that works lets all results be offered at once, and
//     nobody claims for a while (Process, package node).
//
// # What it does not promise
//
// Exactly-once effects outside the database. An owner that stops (SIGSTOP, a
// frozen machine) between Lease.Valid and the irreversible step can wake up
// after somebody else has done the job. The fencing number keeps its result out
// of the table, nothing can take its effect back.
package worker
