// Package replica lets a standby serve lists, search and statistics in place of the primary, without ever
// returning data older than the caller may expect.
//
// # What a read sees
//
// Each read first queries the flushed position of the primary's write-ahead log and its timeline. The replica
// serves the read only if it has replayed the log up to that position on that timeline; it gets a tenth of a
// second, and then the primary serves the read. A commit becomes visible to others only after the log is
// flushed up to it, so everything that any process could have seen before the read is there. The insert
// position would be too strict: it includes data of open transactions that is not flushed, which no standby
// receives. If the primary may confirm commits that are not flushed (synchronous_commit=off was accepted), it
// is the only choice.
//
// Positions on different timelines cannot be compared: a standby of a primary from before a failover can be
// further ahead and still lack later writes. The timeline that a standby reports is never too new, and may be
// too old for some minutes after a failover if the role may not read pg_stat_wal_receiver (pg_monitor);
// meanwhile the primary serves reads.
//
// # When the replica is not used
//
// A task checks the replica every second. A replica is not used if it does not respond, belongs to another
// cluster, accepts writes, or is more than Tolerated behind. It is used again after it has been healthy for a
// few seconds. One log line reports each change. A replica that is only slightly behind is not used for a
// second.
//
// If a query fails on the replica, for example because it conflicts with replay, the primary serves the read.
// At worst, a replica therefore costs callers a little time.
package replica
