package node

import (
	"context"
	"time"
)

// clockMatters is the clock difference that is reported.
const clockMatters = 2 * time.Second

// correctBy is how far a wrong clock must move before the correction changes: measurements vary from beat
// to beat, and ids must not go back each time.
const correctBy = time.Second

// forgetTwin is how long no other process must have had the same name before a conflict is reported again.
const forgetTwin = time.Minute

// aheadBy returns by how much the local clock is at least ahead of the database clock, which showed seen at
// some moment between sent and answered. A negative result means behind. If a clock was set in between, the
// result is wrong once.
func aheadBy(sent, answered, seen time.Time) time.Duration {
	sent, answered = sent.Round(0), answered.Round(0) // compare wall clocks
	switch early, late := sent.Sub(seen), answered.Sub(seen); {
	case early > 0:
		return early
	case late < 0:
		return late
	}
	return 0
}

// clockAhead returns the clock difference for the row, in milliseconds, or nil if it is negligible.
func (n *Node) clockAhead() *int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ahead.Abs() < clockMatters {
		return nil
	}
	ms := n.ahead.Milliseconds()
	return &ms
}

// logChanges logs when problems with names and clocks that a beat detects begin and end.
func (n *Node) logChanges(ctx context.Context, h beatResult) {
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
	twin := n.recordTwin(h.twin)
	n.mu.Unlock()
	if moved {
		n.correct(by)
	}
	if twin {
		n.warnOfTwin(ctx)
	}
	switch {
	case wrong && !wasWrong:
		n.log.WarnContext(ctx,
			"the clock of this machine and that of the database differ: run NTP on both. Due times, leases, limits "+
				"and ids follow the database; signatures, certificates and sessions follow this machine",
			"ahead", ahead.Round(time.Millisecond).String())
	case !wrong && wasWrong:
		n.log.InfoContext(ctx, "the clock of this machine and that of the database agree again")
	}
}

// recordTwin records whether another process currently has the same name, and reports whether that is new: a
// twin that was silent for a moment is not. The caller holds mu.
func (n *Node) recordTwin(twin bool) (news bool) {
	if !twin {
		return false
	}
	now := time.Now()
	news = now.Sub(n.twin) > forgetTwin
	n.twin = now
	return news
}

func (n *Node) warnOfTwin(ctx context.Context) {
	n.log.WarnContext(ctx,
		"another process has the same name: give each its own POSTRIDER_NODE, otherwise the claims of one may be "+
			"released when the other starts", "node", n.name)
}
