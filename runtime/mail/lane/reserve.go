package lane

import (
	"sync"
	"time"
)

// Capacity returns how many more deliveries may start now for a destination. 0 means that the lane is full or
// paused, and OnRoom reports a change.
func (r *Registry) Capacity(way, destination string) int {
	r.mu.Lock()
	defer r.unlockAndNotify()
	now := time.Now()
	k, set := r.locateLane(way, destination)
	return r.laneRoom(r.laneOf(k, set, now), now)
}

// Reservation is one reservation.
type Reservation struct {
	once  sync.Once
	r     *Registry
	l     *lane
	ahead bool
}

// IsAhead reports whether there were more reservations than connections, including this one: it probably has
// to wait.
func (t *Reservation) IsAhead() bool { return t.ahead }

// Reserve counts one claimed delivery, if there is room.
func (r *Registry) Reserve(way, destination string) (*Reservation, bool) {
	r.mu.Lock()
	defer r.unlockAndNotify()
	now := time.Now()
	k, set := r.locateLane(way, destination)
	l := r.laneOf(k, set, now)
	if r.laneRoom(l, now) == 0 {
		return nil, false
	}
	r.countUse(l, 0, 1)
	return &Reservation{r: r, l: l, ahead: l.reserved > l.pace.connectionLimit() || r.reserved > r.cfg.Connections},
		true
}

// End releases the reservation when the delivery is over or handed back. Further calls have no effect.
func (t *Reservation) End() {
	t.once.Do(func() {
		t.r.mu.Lock()
		defer t.r.unlockAndNotify()
		now := time.Now()
		t.r.countUse(t.l, 0, -1)
		t.l.used = now
		t.r.notifyRoom(t.l, now)
	})
}

// PausedUntil returns until when a destination is paused, and why.
func (r *Registry) PausedUntil(way, destination string) (until time.Time, reason string, paused bool) {
	r.mu.Lock()
	defer r.unlockAndNotify()
	k, _ := r.locateLane(way, destination)
	l := r.lanes[k]
	if l == nil || !l.pace.isPaused(time.Now()) {
		return time.Time{}, "", false
	}
	return l.pace.pausedUntil, l.pace.reason, true
}

// Snapshot returns all lanes, in no particular order.
func (r *Registry) Snapshot() []Snapshot {
	r.mu.Lock()
	defer r.unlockAndNotify()
	now := time.Now()
	r.removeUnused(now)
	states := make([]Snapshot, 0, len(r.lanes))
	for _, l := range r.lanes {
		s := Snapshot{
			Way: l.key.way, Name: l.key.name, Provisional: l.key.provisional, Provider: l.pace.profile.Provider,
			Window: l.pace.connectionLimit(), Active: l.active, Reserved: l.reserved, Rate: l.pace.rate.rate,
			Used:      l.used,
			Delivered: l.delivered, Refused: l.refusals, Throttled: l.throttled, Unreachable: l.unreachable,
		}
		if l.pace.isPaused(now) {
			s.PausedUntil, s.Reason = l.pace.pausedUntil, l.pace.reason
		}
		states = append(states, s)
	}
	return states
}
