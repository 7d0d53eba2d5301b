package node

import "time"

// outage is a silence of this process that has ended but still prevents claims. Earlier jobs may have been
// done, and their leases may have expired for others, so every process waits until all processes that were
// alive have stored their results.
type outage struct {
	start, end time.Time // by the database clock: the last beat before the outage, the first after it
	held       time.Time // by the local clock: leases from before are in doubt
	limit      time.Time // by the local clock: end of the wait
}

// settles is how long, after each of its beats, a process with jobs from before an outage prevents others
// from claiming. It beats again much sooner.
const settles = 4 // times the interval of beats during an outage

// holdsDoubtfulJobs reports whether this process holds jobs whose leases are from before a silence, and were
// neither settled nor extended since.
func (n *Node) holdsDoubtfulJobs(now time.Time) bool {
	n.mu.Lock()
	since := now
	switch {
	case elapsedSince(n.beat) > n.times.silent: // the silence ends with the next beat
	case n.outage != nil:
		since = n.outage.held
	default:
		n.mu.Unlock()
		return false
	}
	watched := n.watched
	n.mu.Unlock()
	for _, before := range watched {
		if before(since) > 0 {
			return true
		}
	}
	return false
}

// Watch registers a function that counts the jobs of a worker that were claimed or extended by statements
// sent before a given time.
func (n *Node) Watch(before func(time.Time) int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watched = append(n.watched, before)
}

// trackOutage tracks an outage from beat to beat. An outage begins with the first beat after a silence. It
// is over after the pause, when no process that was alive is absent or in doubt, or when its limit is
// reached. The caller holds the mutex.
func (n *Node) trackOutage(h beatResult) {
	switch {
	case n.outage == nil && h.wait > 0:
		n.outage = &outage{start: n.clock, end: h.seen, held: h.sent, limit: time.Now().Add(n.times.patience)}
	case n.outage != nil && (h.wait <= 0 && !h.absent || time.Now().After(n.outage.limit)):
		n.outage = nil
	}
}

// outageQuery contains the parameters of a beat that concern an outage; nil values if there is none.
type outageQuery struct{ goodUntil, start, end *time.Time }

func (n *Node) newOutageQuery(now time.Time) (q outageQuery) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.clockAt.IsZero() {
		until := n.clock.Add(elapsedBetween(n.clockAt, now)).Add(n.times.silent)
		q.goodUntil = &until
	}
	if out := n.outage; out != nil {
		q.end = &out.end
		if !out.start.IsZero() {
			q.start = &out.start
		}
	}
	return q
}

// learnClock takes the database clock from a beat that is otherwise ignored. The server may have changed.
func (n *Node) learnClock(h beatResult) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clock, n.clockAt = h.seen, h.sent
}

// nextBeat returns the time until the next beat.
func (n *Node) nextBeat() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.outage != nil {
		return n.times.again
	}
	return n.times.every
}
