// Package worker runs background work. There are two kinds.
//
// A Worker processes jobs stored in rows, several concurrently, each under a lease: SMTP attempts, webhook
// attempts, domain checks. Most of this text is about it.
//
// Tasks repeat work that has no rows, each task in one goroutine: deleting old rows, refreshing a cache,
// forwarding a notification. Between two steps, a task waits for as long as the step returned. It survives
// a panic. It logs once when it starts to fail, and once when it works again. No step starts after Stop
// (Tasks, Task, Every, OnWake).
//
// # Terms
//
// A job is a row with `due_at`. Claiming it sets due_at to the end of a lease and increments its fencing
// number, in one short transaction. A crash then needs no repair, because the row is due again when the
// lease ends. Settling it stores its result, only if the fencing number is still that of the claim. Of the
// three steps only the middle one uses the network:
//
//	Claim  (transaction)  UPDATE … FROM (SELECT … WHERE due_at <= now() ORDER BY due_at
//	                      LIMIT n FOR UPDATE SKIP LOCKED) … SET due_at = now() + lease,
//	                      fence = fence + 1 … RETURNING …
//	Run    (network)      under a context that is cancelled at the end of the lease
//	Settle (transaction)  UPDATE … FROM unnest(…) WHERE id = … AND fence = …
//
// Jobs can also be created as claimed, for example those of a request: their creator reserves places
// (Worker.Reserve), stores the rows under a lease, and passes the jobs to the worker after the commit.
//
// # Requirements for the SQL
//
//   - The clock is the database's: due_at, leases and expiry use now() in SQL.
//   - Claim, Settle and Extend are multi-row statements. One statement per job would limit the throughput
//     of the whole service.
//   - Settle increments the fencing number too. If its response is lost, it is called again with the same
//     results and must then change nothing.
//   - Settle ignores a job whose fencing number has changed, without an error: another process owns the
//     job.
//
// # What the worker guarantees
//
//   - Results that are ready together are settled together (group commit, no timer).
//   - While results cannot be stored, no new Run starts and nothing is claimed. This is so after a Settle
//     failed because the database is unavailable, and while a Settle has been waiting for longer than
//     Config.Stall. Likewise no Run starts while claims fail for these reasons. A failed Settle is retried
//     until the results are stored, even after the lease: the fencing number decides whether they still
//     count, and dropping them would mean running the jobs twice. A result that the database rejects
//     because of its content is tried five times and then abandoned with an error in the log; it does not
//     delay others.
//   - A job that has waited in this process for longer than half its lease is not started but handed back
//     (Release). The lease is counted from before the claim was sent, so it never outlives the one in the
//     database.
//   - Lease.IsValid, called right before the irreversible step, turns false a margin before the end. It uses
//     both the monotonic clock and the wall clock: the first does not advance while a machine is suspended.
//   - With Extend, the leases of running jobs are extended in batches after a third of their time. Extend
//     and Settle never overlap, so an Extend cannot touch a job that was just settled. Without Extend, a
//     Run is cancelled at the end of its lease.
//   - An outage is one log line when it begins and one when it ends.
//   - When the database is back, processes with unstored results store them before other processes can
//     claim the jobs again, although the leases have ended: the first successful operation of a process
//     makes it retry all its results immediately, and no process claims for a while (Process, package
//     node).
//
// # What it does not guarantee
//
// Exactly-once effects outside the database. A process that is suspended (SIGSTOP, a frozen machine) between
// Lease.IsValid and the irreversible step can resume after another process has done the job. The fencing number
// keeps its result out of the table, but nothing can undo its effect.
package worker
