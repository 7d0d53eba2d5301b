// Package failover knows which host of an address with several hosts may be written to.
//
// # What is compared
//
// Every server says which cluster it belongs to (its system identifier), whether it is a standby, and on which
// timeline it is. A promotion begins a new timeline, so a primary on an older timeline than any other server of its
// cluster is the one from before a fail-over: what it stores is lost as soon as somebody notices. It must not be
// written to, even if it is the only primary that answers.
//
// Two primaries of one cluster that answer at the same time are two versions of the truth. Usually one of them was
// started again by mistake after a fail-over, but a program cannot know which of them people want to keep: so nothing
// is written to either of them until one is gone. The address of one server under two names is not two primaries: the
// time at which the server was started tells.
//
// The timeline of a primary is read from the name of its current log file, which is right from the moment of its
// promotion on; pg_control_checkpoint is right only after the next checkpoint. A standby has no such function. What it
// tells of its timeline is never newer than the truth and may be older for some minutes. Every role may ask all of this.
//
// # What it costs
//
// A Survey asks each host on a connection that it keeps, and remembers the answers for a moment, so a burst of new
// connections costs one question. A host that was silent when it was last asked is asked again in the background and
// not waited for.
package failover
