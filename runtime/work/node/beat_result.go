package node

import (
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
)

// beatResult is the result of a stored beat.
type beatResult struct {
	sent, seen time.Time     // by the local clock, and by the database clock
	wait       time.Duration // how long nothing may be claimed
	absent     bool          // a process that was alive before the outage has not beaten since
	alone      bool          // no other process was alive shortly before, or is now
	lock       int64         // recorded in the row; 0 if none
	answered   time.Time     // by the local clock
	others     []Process
	twin       bool // a live process has the same name
}

// recordBeat processes the result of a stored beat.
func (n *Node) recordBeat(h beatResult) {
	n.mu.Lock()
	defer n.mu.Unlock()
	silence := elapsedBetween(n.beat, h.sent)
	if silence > n.times.holds {
		n.holdsFrom = h.sent
	}
	// regardless of the database clock, which may be that of another server
	if silence > n.times.silent && !n.beat.IsZero() && !h.alone {
		h.wait = max(h.wait, n.times.pause)
	}
	n.trackOutage(h)
	n.beat, n.until, n.published = h.sent, h.seen.Add(n.times.silent), h.lock
	n.clock, n.clockAt = h.seen, h.sent
	n.others = h.others
	if from := time.Now().Add(h.wait); from.After(n.claimsFrom) {
		n.claimsFrom = from
	}
	close(n.changed)
	n.changed = make(chan struct{})
}

// AwaitClaim waits until jobs may be claimed. It returns false if stop is closed first.
func (n *Node) AwaitClaim(stop <-chan struct{}) bool {
	return n.awaitAllowed(stop, func() (bool, time.Duration) {
		if elapsedSince(n.beat) >= n.times.silent {
			return false, 0
		}
		wait := time.Until(n.claimsFrom)
		return wait <= 0 && n.outage == nil && n.hold == nil, wait
	})
}

// AwaitRun waits until claimed jobs may start: until the process holds a lock and its row records it. It
// returns false if stop is closed first.
func (n *Node) AwaitRun(stop <-chan struct{}) bool {
	return n.awaitAllowed(stop, func() (bool, time.Duration) {
		key, held := n.signals.Lock()
		return held && key == n.published, 0
	})
}

// awaitAllowed checks again after each beat, and after the wait that allowed returns.
func (n *Node) awaitAllowed(stop <-chan struct{}, allowed func() (ok bool, wait time.Duration)) bool {
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

// Holds reports whether this process certainly still owns jobs claimed or extended by a statement sent at a
// given time, as far as the early release of claims is concerned.
func (n *Node) Holds(since time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return elapsedSince(n.beat) < n.times.holds && !since.Before(n.holdsFrom)
}

// Report reports the result of a database operation. The first success after a failure closes the recovery signal.
func (n *Node) Report(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case err == nil && n.failing:
		n.failing = false
		close(n.back)
		n.back = make(chan struct{})
	case err != nil && fault.IsDatabaseUnavailable(err):
		n.failing = true
	}
}

// RecoverySignal returns a channel that is closed when the database works again.
func (n *Node) RecoverySignal() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.back
}
