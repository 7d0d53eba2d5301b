package lane

import (
	"sync"
	"time"
)

// Room says how many more deliveries may be begun now for a destination; 0: the lane
// is full or paused, and OnRoom will tell when that changes.
func (r *Registry) Room(way, destination string) int {
	r.mu.Lock()
	defer r.unlock()
	now := time.Now()
	k, set := r.locate(way, destination)
	return r.room(r.lane(k, set, now), now)
}

// Ticket is one reservation.
type Ticket struct {
	once  sync.Once
	r     *Registry
	l     *lane
	ahead bool
}

// Ahead tells that there were no connections for all that was reserved, this one
// included: it probably waits for its turn.
func (t *Ticket) Ahead() bool { return t.ahead }

// Reserve counts one claimed delivery, if there is room for it.
func (r *Registry) Reserve(way, destination string) (*Ticket, bool) {
	r.mu.Lock()
	defer r.unlock()
	now := time.Now()
	k, set := r.locate(way, destination)
	l := r.lane(k, set, now)
	if r.room(l, now) == 0 {
		return nil, false
	}
	r.count(l, 0, 1)
	return &Ticket{r: r, l: l, ahead: l.reserved > l.pace.limit() || r.reserved > r.cfg.Connections}, true
}

// End gives the reservation back, when the delivery is over or handed back. Further
// calls do nothing.
func (t *Ticket) End() {
	t.once.Do(func() {
		t.r.mu.Lock()
		defer t.r.unlock()
		now := time.Now()
		t.r.count(t.l, 0, -1)
		t.l.used = now
		t.r.changed(t.l, now)
	})
}

// Paused says until when, and why, nothing is attempted for a destination.
func (r *Registry) Paused(way, destination string) (until time.Time, reason string, paused bool) {
	r.mu.Lock()
	defer r.unlock()
	k, _ := r.locate(way, destination)
	l := r.lanes[k]
	if l == nil || !l.pace.paused(time.Now()) {
		return time.Time{}, "", false
	}
	return l.pace.pausedUntil, l.pace.reason, true
}

// Snapshot is all lanes, in no order.
func (r *Registry) Snapshot() []State {
	r.mu.Lock()
	defer r.unlock()
	now := time.Now()
	r.sweep(now)
	states := make([]State, 0, len(r.lanes))
	for _, l := range r.lanes {
		s := State{
			Way: l.key.way, Name: l.key.name, Provisional: l.key.provisional, Provider: l.pace.profile.Provider,
			Window: l.pace.limit(), Active: l.active, Reserved: l.reserved, Rate: l.pace.rate.rate, Used: l.used,
			Delivered: l.delivered, Refused: l.refusals, Throttled: l.throttled, Unreachable: l.unreachable,
		}
		if l.pace.paused(now) {
			s.PausedUntil, s.Reason = l.pace.pausedUntil, l.pace.reason
		}
		states = append(states, s)
	}
	return states
}
