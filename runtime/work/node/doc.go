// Package node is this process among those that share the database.
//
// Each process has a row in the table nodes, which it writes every two seconds, and a
// connection that holds an advisory lock for as long as it lives (runtime/storage/db, Signals).
// It is no membership protocol: nothing is elected, and nobody's mail is lost when the
// table is wrong or empty. A wrong answer costs seconds.
//
// # What the row decides
//
//   - Whether writes work. A beat is a commit like any other: it waits for the standby if
//     commits do, and it needs room on the disk. Readiness is told by the age of the
//     last beat that was stored.
//   - When jobs may be claimed. A process whose beats do not come through claims nothing.
//     The first beat after a silence finds the silence in the row, by the database
//     clock, and nothing is claimed for Pause from then on: other processes may have
//     results of before the outage, and offer them again within that time. Then it waits
//     for everybody who was alive before: until each has beaten since and holds nothing
//     any more that was claimed before, or until it has waited for 20 seconds. One that was
//     alone waits for itself only, until its own results are stored. A process that has
//     just started knows of no outage; it waits likewise when others are silent and
//     nobody has beaten steadily, and as long as those who are back claim nothing.
//   - Whose claims are handed back before their leases end: those of a process whose
//     lock is free, if a process of the same name has started since or its last beat is
//     older than Gone. Handing back raises the fencing number.
//   - Whether the whole installation is held (runtime/work/hold): that row is read with each
//     beat, and while it is there nothing is claimed.
//
// # What a process owes
//
// Because its claims may be handed back after Gone, a process takes no irreversible step
// when its last beat is older than a little less (Holds), nor under a lease from before
// such a silence, until the database has said again that the job is its own. One that has
// lost its lock begins nothing until it holds one again and has written so.
//
// Several processes on one machine need a name each (POSTRIDER_NODE): for one that has the
// name of another, a restart of the other cannot be told from its own.
package node
