// Package replica lets a standby answer lists, search and statistics in place of the primary,
// and never with less than a caller may expect.
//
// # What a read sees
//
// Each read first asks the primary how far its write-ahead log is on the disk, and on which timeline.
// The replica answers only when it has replayed the log so far on that timeline; it gets a tenth of a
// second, and then the primary answers. A commit is seen by others only after the log is on the disk up to
// it, so whatever anybody could have seen before the read began, in whatever process it was written, is
// there. The position up to which the log was inserted would be too much to ask: it includes what open
// transactions have not flushed, which no standby is sent. Where the primary may confirm what is not on its
// disk (synchronous_commit=off was accepted), it is the only one that will do.
//
// Positions of different timelines do not compare: a standby of a primary from before a fail-over can be
// further, and lack what came since. What a standby tells of its timeline is never newer than the truth, and may be
// older for some minutes after a fail-over where the role may not look at pg_stat_wal_receiver
// (pg_monitor); the primary answers meanwhile.
//
// # What is passed over
//
// A task looks at the replica every second. One that does not answer, that is another cluster's, that takes
// writes, or that is more than Tolerated behind is passed over: nobody asks it until it has been well again for a
// few seconds. One line of the log says so, and another one that it is used again. One that is only a little behind is left
// alone for a second.
//
// Whatever fails at the replica, as a query that stands in the way of what it replays, is asked of the
// primary. So a replica costs callers a little time at worst.
package replica
