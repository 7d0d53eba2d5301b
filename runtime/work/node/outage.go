package node

import "time"

// outage is a silence of this process that has ended, while nothing is claimed because of
// it. Jobs of before it may have been done, and others may find their leases over: so
// every process waits until all that were alive have stored what they had.
type outage struct {
	start, end time.Time // by the clock of the database: the last beat before it, the first after
	held       time.Time // by the clock here: leases from before are in doubt
	limit      time.Time // likewise: then nobody is waited for any more
}

// settles is how long a process that holds jobs of before an outage keeps the others from
// claiming, from each beat on. It beats again much sooner.
const settles = 4 // times the time between two beats of an outage

// doubtful tells whether this process holds jobs whose leases are from before a silence:
// not settled, and not prolonged since.
func (n *Node) doubtful(now time.Time) bool {
	n.mu.Lock()
	since := now
	switch {
	case elapsed(n.beat) > n.times.silent: // the silence ends with the next beat
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

// Watch has the node know how many jobs a worker holds that were claimed or prolonged by
// statements from before a time.
func (n *Node) Watch(before func(time.Time) int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watched = append(n.watched, before)
}

// overOutage follows an outage from beat to beat. It begins with the first beat after a
// silence. It is over when the pause is, and nobody who was alive is still absent or in
// doubt; or when its limit is reached. The caller holds the mutex.
func (n *Node) overOutage(h heard) {
	switch {
	case n.outage == nil && h.wait > 0:
		n.outage = &outage{start: n.clock, end: h.seen, held: h.sent, limit: time.Now().Add(n.times.patience)}
	case n.outage != nil && (h.wait <= 0 && !h.absent || time.Now().After(n.outage.limit)):
		n.outage = nil
	}
}

// question is what a beat asks because of an outage. Null is: none.
type question struct{ goodUntil, start, end *time.Time }

func (n *Node) question(now time.Time) (q question) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.clockAt.IsZero() {
		until := n.clock.Add(between(n.clockAt, now)).Add(n.times.silent)
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

// learnClock takes the clock of the database from a beat that counts for nothing. It may
// be another server's now.
func (n *Node) learnClock(h heard) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.clock, n.clockAt = h.seen, h.sent
}

// rhythm is the time until the next beat.
func (n *Node) rhythm() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.outage != nil {
		return n.times.again
	}
	return n.times.every
}
