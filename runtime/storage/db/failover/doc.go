// Package failover determines which host of an address with several hosts may be written to.
//
// # What is compared
//
// Every server reports which cluster it belongs to (its system identifier), whether it is a standby, and its
// timeline. A promotion starts a new timeline, so a primary on an older timeline than any other server of its
// cluster is from before a failover: data stored there will be lost. It must not be written to, even if it is
// the only primary that responds.
//
// Two primaries of one cluster that respond at the same time are two diverging versions of the data. Usually
// one of them was restarted by mistake after a failover, but a program cannot know which one to keep: so
// nothing is written to either until one is gone. One server with two names does not count as two primaries:
// both names report the same start time.
//
// The timeline of a primary is read from the name of its current WAL file, which is right from the moment of
// its promotion; pg_control_checkpoint is right only after the next checkpoint. A standby has no such
// function. The timeline it reports is never too new and may be too old for some minutes. Every role may
// query all of this.
//
// # What it costs
//
// A Survey queries each host on a connection that it keeps, and caches the results for a moment, so that a
// burst of new connections costs one query. A host that was silent last time is queried again in the
// background, without waiting for it.
package failover
