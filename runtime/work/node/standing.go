package node

import (
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

// heard is what a beat that was stored says.
type heard struct {
	sent, seen time.Time     // by the clock here, and by the database's
	wait       time.Duration // nothing is claimed for so long
	absent     bool          // somebody who was alive before the outage has not beaten since
	alone      bool          // nobody else was alive shortly before, and nobody is
	lock       int64         // that the row names now; 0: none
	answered   time.Time     // by the clock here
	others     []Process
	twin       bool // one that lives has the name of this one
}

// note learns from a beat that was stored.
func (n *Node) note(h heard) {
	n.mu.Lock()
	defer n.mu.Unlock()
	silence := between(n.beat, h.sent)
	if silence > n.times.holds {
		n.holdsFrom = h.sent
	}
	if silence > n.times.silent && !n.beat.IsZero() && !h.alone { // whatever the clock of the database says: it may be another one's
		h.wait = max(h.wait, n.times.pause)
	}
	n.overOutage(h)
	n.beat, n.until, n.published = h.sent, h.seen.Add(n.times.silent), h.lock
	n.clock, n.clockAt = h.seen, h.sent
	n.others = h.others
	if from := time.Now().Add(h.wait); from.After(n.claimsFrom) {
		n.claimsFrom = from
	}
	close(n.changed)
	n.changed = make(chan struct{})
}

// AwaitClaim waits until jobs may be claimed; false when stop comes first.
func (n *Node) AwaitClaim(stop <-chan struct{}) bool {
	return n.await(stop, func() (bool, time.Duration) {
		if elapsed(n.beat) >= n.times.silent {
			return false, 0
		}
		wait := time.Until(n.claimsFrom)
		return wait <= 0 && n.outage == nil && n.hold == nil, wait
	})
}

// AwaitRun waits until jobs that are claimed may be begun: until the process holds a lock
// and its row names it. It is false when stop comes first.
func (n *Node) AwaitRun(stop <-chan struct{}) bool {
	return n.await(stop, func() (bool, time.Duration) {
		key, held := n.signals.Lock()
		return held && key == n.published, 0
	})
}

// await asks again after each beat, and after the wait that the answer names.
func (n *Node) await(stop <-chan struct{}, allowed func() (ok bool, wait time.Duration)) bool {
	for {
		n.mu.Lock()
		ok, wait := allowed()
		changed := n.changed
		n.mu.Unlock()
		if ok {
			return true
		}
		var over <-chan time.Time
		if wait > 0 {
			over = time.After(wait)
		}
		select {
		case <-over:
		case <-changed:
		case <-stop:
			return false
		}
	}
}

// Holds tells whether what was claimed, or prolonged, by a statement that was sent at a
// moment is certainly still this process's, as far as handing back early is concerned.
func (n *Node) Holds(since time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return elapsed(n.beat) < n.times.holds && !since.Before(n.holdsFrom)
}

// Report tells of the end of an operation on the database. The first one that works after
// one that found it away closes Back.
func (n *Node) Report(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case err == nil && n.failing:
		n.failing = false
		close(n.back)
		n.back = make(chan struct{})
	case err != nil && fault.IsDatabaseAway(err):
		n.failing = true
	}
}

// Back is closed when the database works again.
func (n *Node) Back() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.back
}
