package node

import (
	"context"
	"time"
)

// clockMatters is how far two clocks may be apart before it is told.
const clockMatters = 2 * time.Second

// correctBy is how far a wrong clock has moved when that is told anew: what is measured differs from beat to beat, and ids must
// not go back each time.
const correctBy = time.Second

// forgetTwin is how long no other process has the name of this one until it is told anew.
const forgetTwin = time.Minute

// aheadBy is how far the clock here is before that of the database, at least: it said seen
// at some moment between sent and answered. Behind is negative. Durations of clocks that
// were set meanwhile are wrong once.
func aheadBy(sent, answered, seen time.Time) time.Duration {
	sent, answered = sent.Round(0), answered.Round(0) // the wall clock is in question
	switch early, late := sent.Sub(seen), answered.Sub(seen); {
	case early > 0:
		return early
	case late < 0:
		return late
	}
	return 0
}

// clockAhead is what the row says of the clock, in milliseconds; nil where it is right.
func (n *Node) clockAhead() *int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ahead.Abs() < clockMatters {
		return nil
	}
	ms := n.ahead.Milliseconds()
	return &ms
}

// tell logs what a beat shows to be wrong with names and clocks, when it begins and ends.
func (n *Node) tell(ctx context.Context, h heard) {
	ahead := aheadBy(h.sent.Add(n.times.skew), h.answered.Add(n.times.skew), h.seen)
	n.mu.Lock()
	wrong, wasWrong := ahead.Abs() >= clockMatters, n.ahead.Abs() >= clockMatters
	n.ahead = ahead
	by := ahead
	if !wrong {
		by = 0
	}
	moved := (by == 0) != (n.corrected == 0) || (by-n.corrected).Abs() >= correctBy
	if moved {
		n.corrected = by
	}
	twin := n.meets(h.twin)
	n.mu.Unlock()
	if moved {
		n.correct(by)
	}
	if twin {
		n.warnOfTwin(ctx)
	}
	switch {
	case wrong && !wasWrong:
		n.log.WarnContext(ctx, "the clock of this machine and that of the database differ: run NTP on both. When mail is due, leases, limits and ids go by the database; signatures, certificates and sessions by this machine",
			"ahead", ahead.Round(time.Millisecond).String())
	case !wrong && wasWrong:
		n.log.InfoContext(ctx, "the clock of this machine and that of the database agree again")
	}
}

// meets notes whether another process has the name of this one now, and tells whether that is news: one
// that was silent for a moment is not. The caller holds mu.
func (n *Node) meets(twin bool) (news bool) {
	if !twin {
		return false
	}
	now := time.Now()
	news = now.Sub(n.twin) > forgetTwin
	n.twin = now
	return news
}

func (n *Node) warnOfTwin(ctx context.Context) {
	n.log.WarnContext(ctx, "another process has the same name: give each a POSTRIDER_NODE of its own, or what one has claimed may be taken from it when the other starts", "node", n.name)
}
