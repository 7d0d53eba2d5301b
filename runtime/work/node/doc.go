// Package node represents this process among those that share the database.
//
// Each process has a row in the table nodes, which it updates every two seconds, and a connection that holds
// an advisory lock while the process lives (runtime/storage/db, Signals). This is not a membership protocol:
// there is no election, and no mail is lost if the table is wrong or empty. A wrong answer costs seconds.
//
// # What the row decides
//
//   - Whether writes work. A beat is an ordinary commit: it waits for the standby if commits do, and
//     it needs disk space. Readiness depends on the age of the last stored beat.
//   - When jobs may be claimed. A process whose beats are not stored claims nothing. The first beat after a
//     silence detects the silence in the row, by the database clock, and the process then claims nothing
//     for Pause: other processes may have results from before the outage, which they store within that
//     time. Then it waits for all processes that were alive before: until each has beaten since and holds
//     no jobs claimed before the outage, for at most 20 seconds. A process that was alone waits only until
//     its own results are stored. A process that has just started knows of no outage; it waits likewise if
//     others are silent and none has beaten steadily, and as long as those that are back claim nothing.
//   - Whose claims are handed back before their leases end: those of a process whose lock is free, if a
//     process of the same name has started since, or if its last beat is older than Gone. Handing back
//     increments the fencing number.
//   - Whether the whole installation is held (hold.go): that row is read with each beat, and
//     while it exists nothing is claimed.
//
// # Obligations of a process
//
// Because its claims may be handed back after Gone, a process takes no irreversible step when its last beat
// is older than a little less than that (Holds), nor under a lease from before such a silence, until the
// database has confirmed again that it owns the job. A process that has lost its lock starts nothing until it
// holds one again and has recorded it.
//
// Several processes on one machine need different names (POSTRIDER_NODE): otherwise a process cannot
// distinguish a restart of the other from its own.
package node
